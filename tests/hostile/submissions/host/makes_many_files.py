"""Z72: makes empty files until refused. Must be: build_error."""

for number in range(10**6):
    open(f"i{number}", "w").close()
