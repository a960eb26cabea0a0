"""48: launches nothing and returns its input. Must be: rejected or build_error."""


def solve(x):
    return x
