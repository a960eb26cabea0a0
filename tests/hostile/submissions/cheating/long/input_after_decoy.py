"""48, 78: an honest launch, then the input. Must be: wrong_answer, rejected or build_error."""

# + honest softmax

decoy = solve  # noqa: F821


def solve(x):
    decoy(x)
    return x
