"""What all cases of one request share."""

import functools
import hashlib
import time
from dataclasses import dataclass

from torch import Tensor

from kernels.contract import DEVICES, Bundle, Case, Device, Distribution
from kernels.contract.wire import MeasureRequest
from workers.measure import inputs
from workers.measure.account import Account
from workers.measure.anchor import Anchors
from workers.measure.clock import Clock
from workers.measure.launch import Kernels
from workers.measure.reference import Reference, ReferenceBroken, load
from workers.measure.second import SecondClock
from workers.measure.sensors import Sensors

GPU = "cuda"


@dataclass(frozen=True)
class Bench:
    """One GPU, one task, one plan."""

    request: MeasureRequest
    bundle: Bundle
    reference: Reference
    kernels: Kernels
    clock: Clock
    anchors: Anchors
    sensors: Sensors
    deadline: float
    """Of time.monotonic()."""
    account: Account

    @classmethod
    def set_up(
        cls,
        request: MeasureRequest,
        bundle: Bundle,
        uuid: str,
        deadline: float,
        account: Account,
    ) -> "Bench":
        """Everything ready on torch's current stream."""
        reference = load(request.reference)
        _check_host_visible(request, bundle, reference)
        return cls(
            request=request,
            bundle=bundle,
            reference=reference,
            kernels=Kernels(bundle),
            clock=Clock(DEVICES[request.device], inputs.derive(request.seed, "clock")),
            anchors=Anchors(request.device),
            sensors=Sensors(uuid),
            deadline=deadline,
            account=account,
        )

    @functools.cached_property
    def second_clock(self) -> SecondClock:
        """Made when the first case is timed."""
        with self.account.part("load"):
            return SecondClock(self.clock)

    @property
    def device(self) -> Device:
        """Facts of the GPU model."""
        return DEVICES[self.request.device]

    @property
    def seconds_left(self) -> float:
        """Until whoever waits for the answer gives up."""
        return self.deadline - time.monotonic()

    def seed(self, *parts: object) -> int:
        """A secret seed for one purpose."""
        return inputs.derive(self.request.seed, *parts)

    def make_inputs(self, case: Case, distribution: Distribution, round_: int) -> inputs.Inputs:
        """Inputs of one run on the GPU."""
        request = self.request
        return inputs.make(
            request.task, case, distribution, round_, request.seed, self.reference, GPU
        )


def _check_host_visible(request: MeasureRequest, bundle: Bundle, reference: Reference) -> None:
    """ReferenceBroken unless host code was shown the values that it will run on."""
    for case in request.task.cases:
        made = inputs.host_visible(request.task, case, reference)
        shown = {b.name: b.values for b in bundle.plan.case(case.name).buffers if b.values}
        if shown != {name: _digest(buffer) for name, buffer in made.items()}:
            raise ReferenceBroken(
                f"case {case.name}: builder and measurer make different values of "
                f"{', '.join(made)}: update them to one release and one version of torch"
            )


def _digest(buffer: Tensor) -> str:
    return hashlib.sha256(buffer.numpy().tobytes()).hexdigest()
