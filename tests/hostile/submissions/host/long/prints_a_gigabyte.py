"""P12, Z68: one line of a gigabyte. Must be: rejected, build_error or timeout."""

print("x" * (1 << 30))
