"""106, Z80, 81: puts links and fifos where answers are looked for. Must be: build_error or timeout."""

import os

# + honest softmax

for number in range(20):
    os.mkfifo(f"answers{number}")
os.rmdir("answers") if os.path.isdir("answers") else None
os.symlink("/etc/shadow", "answers")
