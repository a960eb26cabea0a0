"""P12, Z47: holds the interpreter in C for years. Must be: timeout."""

print(sum(range(10**18)))
