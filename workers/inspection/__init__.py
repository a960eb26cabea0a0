"""Deeper looks at a plan: replayed once under compute-sanitizer or Nsight Compute, and read."""
