"""P12, Z58, 124: takes memory until there is none. Must be: rejected, build_error or timeout."""

kept = []
while True:
    kept.append(bytearray(256 << 20))
