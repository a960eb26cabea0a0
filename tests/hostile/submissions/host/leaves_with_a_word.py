"""Z102: leaves with the word it would like to read. Must be: build_error."""

raise SystemExit("accepted")
