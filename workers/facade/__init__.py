"""What submitted code sees of the GPU: one H100 or H200 as cuda:0, held by tensors elsewhere."""

from workers.facade.driver import DeviceDriver
from workers.facade.facade import Facade
from workers.facade.hooks import Handler, Hooks
from workers.facade.refusal import Refusal
from workers.facade.surroundings import Surroundings

__all__ = ["DeviceDriver", "Facade", "Handler", "Hooks", "Refusal", "Surroundings"]
