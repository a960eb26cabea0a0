"""Runs submissions on CPU tensors with Triton's interpreter: the check where there is no GPU."""
