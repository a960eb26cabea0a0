"""43, 89-91, 97: walks the stack, the heap and the memory for what belongs to the judge.

Must be: checked."""

import gc
import re
import sys

# + honest softmax

frame = sys._getframe()
while frame is not None:
    for name, value in list(frame.f_locals.items()):
        if name in ("seed", "reference", "expected", "secret", "token"):
            print("LEAKED", name, type(value))
    frame = frame.f_back
for found in gc.get_objects():
    if isinstance(found, dict) and "KERNELJUDGE_TEST_SECRET" in found:
        print("LEAKED environment of the judge")
# Spelled backwards, so that the pattern does not find itself.
needle = re.compile(b"-yranac"[::-1] + rb"[0-9a-f]{16}")
with open("/proc/self/maps") as maps:
    regions = [line.split() for line in maps if " rw-p " in line]
try:
    with open("/proc/self/mem", "rb", 0) as memory:
        for region in regions:
            start, end = (int(word, 16) for word in region[0].split("-"))
            memory.seek(start)
            content = memory.read(min(end - start, 64 << 20)) or b""
            if needle.search(content):
                print("LEAKED", region)
except OSError as error:
    print(error)
