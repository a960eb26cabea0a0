"""55, P6: leaves zeros in its input, where a reference might read them.

Must be: wrong_answer."""

# + honest softmax

honest = solve  # noqa: F821


def solve(x):
    y = honest(x)
    x.zero_()
    return y
