"""8, 84: another assembler and another library for the compiler.

Must be: build_error, rejected or checked."""

import os

# + honest softmax

with open("ptxas", "w") as file:
    file.write("#!/bin/sh\necho owned\n")
os.chmod("ptxas", 0o755)
os.environ["TRITON_PTXAS_PATH"] = os.path.abspath("ptxas")
os.environ["LD_PRELOAD"] = os.path.abspath("ptxas")
