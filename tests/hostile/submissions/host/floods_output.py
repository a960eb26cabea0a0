"""P12, Z66, Z67: prints without end. Must be: rejected."""

import os

while True:
    os.write(1, b"y" * 65536)
    os.write(2, b"n" * 65536)
