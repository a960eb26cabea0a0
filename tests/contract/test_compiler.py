"""Occupancy as CUDA computes it for compute capability 9.0."""

import pytest

from kernels.contract import DEVICES, DeviceName, occupancy

H200 = DEVICES[DeviceName.H200]


@pytest.mark.parametrize(
    ("warps", "registers", "shared", "blocks", "limited_by"),
    [
        (8, 32, 0, 8, ("registers", "warps")),
        (4, 128, 0, 4, ("registers",)),
        (4, 168, 0, 3, ("registers",)),  # 3 warps per subpartition, although 65536 / 5376 is 12.2
        (4, 255, 0, 2, ("registers",)),
        (12, 168, 0, 1, ("registers",)),
        (32, 64, 0, 1, ("registers",)),
        (32, 32, 0, 2, ("registers", "warps")),
        (1, 16, 0, 32, ("blocks",)),
        (4, 32, 100 * 1024, 2, ("shared memory",)),
        (4, 32, 232_448, 1, ("shared memory",)),
        (4, 33, 0, 12, ("registers",)),  # registers come in units of 8 per thread
    ],
)
def test_occupancy(
    warps: int, registers: int, shared: int, blocks: int, limited_by: tuple[str, ...]
) -> None:
    found = occupancy(H200, warps, registers, shared)
    assert (found.blocks, found.limited_by) == (blocks, limited_by)
    assert found.warps == blocks * warps
    assert found.share == blocks * warps / 64
