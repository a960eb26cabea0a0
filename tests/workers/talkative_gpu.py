"""Stands for a measurer in whose process kernels print."""


def run(request: bytes) -> bytes:
    """Print 2 MiB, as the driver prints what kernels printed."""
    for _ in range(2 << 10):
        print("value: 1.0".ljust(1023))  # noqa: T201
    return b""
