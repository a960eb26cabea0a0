"""58, Z97: leaves from the function, as a case that was built would. Must be: build_error."""

import os


def solve(x):
    os._exit(30)
