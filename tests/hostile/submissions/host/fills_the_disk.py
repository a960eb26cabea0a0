"""P12, Z70, 126: writes files until refused. Must be: build_error."""

number = 0
while True:
    with open(f"file{number}", "wb", buffering=0) as file:
        file.write(b"z" * (8 << 20))
    number += 1
