"""Z71: one file larger than allowed, by writing and by a hole. Must be: build_error."""

import os

file = os.open("large", os.O_CREAT | os.O_RDWR)
os.ftruncate(file, 1 << 40)
