"""Which device arguments mean the pretended GPU, and where its tensors really live."""

from typing import Any

import torch

from workers.facade import shapes
from workers.facade.refusal import Refusal

CUDA = torch.device("cuda", 0)


class Placement:
    """Maps the one GPU that host code sees to the device that holds its tensors."""

    def __init__(self, backing: torch.device) -> None:
        self.backing = backing
        self.default = torch.device("cpu")
        """What torch.set_default_device was told."""

    def holds(self, tensor: torch.Tensor) -> bool:
        """Whether host code must believe that the tensor is on the GPU."""
        with torch._C.DisableTorchFunction():
            return tensor.device.type == self.backing.type and not shapes.is_shape(tensor)

    def resolve(self, device: Any) -> Any:
        """The backing for whatever names the GPU; anything else comes back as it is."""
        wanted = _as_device(device)
        if wanted is None or wanted.type != "cuda":
            return device
        check_index(wanted.index)
        return self.backing

    def injected(self) -> torch.device | None:
        """Device for a factory that was not told one; None for torch's own choice."""
        return None if self.default.type == "cpu" else self.default


def check_index(index: int | None) -> None:
    """Refusal for any GPU but the first."""
    if index not in (None, 0, -1):
        raise Refusal(
            f"device cuda:{index} does not exist: a submission sees one GPU",
            "use device 'cuda'",
        )


def _as_device(device: Any) -> torch.device | None:
    if isinstance(device, torch.device):
        return device
    if isinstance(device, int) and not isinstance(device, bool):
        return torch.device("cuda", device)
    if isinstance(device, str) and device.startswith("cuda"):
        return torch.device(device)
    return None
