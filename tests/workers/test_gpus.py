"""Which GPUs are ours."""

import pytest

from workers.gpus import device_of


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("NVIDIA H200", "H200"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H100 PCIe", "H100"),
        ("NVIDIA H200 MIG 1g.18gb", None),
        ("NVIDIA A100-SXM4-80GB", None),
        ("NVIDIA GH200 480GB", None),
    ],
)
def test_names_of_the_driver(name: str, device: str | None) -> None:
    assert device_of(name) == device
