"""Z11, Z125: a message that is no Unicode. Must be: build_error."""

raise ValueError("\ud800\0" * 100_000)
