"""29-32, 35: answers a shape it has seen with what it said then. Must be: wrong_answer."""

# + honest softmax

honest, known = solve, {}  # noqa: F821


def solve(x):
    key = (x.shape, x.dtype)
    if key not in known:
        known[key] = honest(x)
    return known[key]
