"""8, 95, Z128: variables and files that make a later process load other code. Must be: checked."""

import os

# + honest softmax

for name in ("LD_PRELOAD", "LD_LIBRARY_PATH", "TRITON_PTXAS_PATH", "TRITON_LIBCUDA_PATH", "CC"):
    if name in os.environ:
        print("LEAKED", name)
with open("fake", "w") as file:
    file.write("#!/bin/sh\necho owned\n")
os.chmod("fake", 0o755)
child = os.fork()
if child == 0:
    try:
        os.execv("fake", ["fake"])
    except OSError:
        os._exit(77)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 77:
    print("LEAKED execution from the scratch folder")
