"""Which GPUs are ours, and that each measuring server sees its own."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from workers import servers
from workers.gpus import _list, device_of
from workers.settings import Settings


class _Error(Exception):
    """What the driver answers where it cannot tell."""


TWO = SimpleNamespace(
    NVMLError=_Error,
    nvmlSystemGetDriverVersion=lambda: "580",
    nvmlDeviceGetCount=lambda: 2,
    nvmlDeviceGetHandleByIndex=lambda index: index,
    nvmlDeviceGetName=lambda handle: "NVIDIA H200",
    nvmlDeviceGetMinorNumber=lambda handle: 7 - handle,
    nvmlDeviceGetUUID=lambda handle: f"GPU-{handle}",
)
"""A driver that counts device nodes the other way round, as some hosts do."""


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


def test_a_server_of_one_gpu_has_its_node_and_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its number would name none there: where one GPU can be seen, that is number 0."""
    profiles: list[SimpleNamespace] = []
    monkeypatch.setattr(servers, "start_server", lambda *args, **_: profiles.append(args[2]))
    # A real one refuses device nodes that this machine lacks.
    monkeypatch.setattr(servers, "Profile", SimpleNamespace)
    monkeypatch.setenv("KERNELJUDGE_DATA_DIR", str(tmp_path))
    gpus, notes = _list(TWO)
    assert notes == []
    for gpu in gpus:
        servers.start_measure(Settings.load(), gpu)
    assert [str(profile.devices[-1]) for profile in profiles] == ["/dev/nvidia7", "/dev/nvidia6"]
    assert [dict(profile.env)["CUDA_VISIBLE_DEVICES"] for profile in profiles] == ["GPU-0", "GPU-1"]
    assert [profile.name for profile in profiles] == ["measure-0", "measure-1"]


def test_a_gpu_that_does_not_tell_its_name_is_left_out_with_a_note() -> None:
    """The others are used all the same."""

    def uuid(handle: int) -> str:
        if handle == 0:
            raise _Error("Not Supported")
        return f"GPU-{handle}"

    gpus, notes = _list(SimpleNamespace(**vars(TWO) | {"nvmlDeviceGetUUID": uuid}))
    assert [gpu.uuid for gpu in gpus] == ["GPU-1"]
    assert notes == ["GPU 0 (NVIDIA H200) does not tell its device node or UUID (Not Supported)"]
