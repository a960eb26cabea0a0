"""Stands for a measurer in whose process assertions of kernels fail."""


def run(request: bytes) -> bytes:
    """Print 2 MiB, as the driver prints which assertions failed."""
    for _ in range(2 << 10):
        print("Assertion `value > 1` failed.".ljust(1023))  # noqa: T201
    return b""
