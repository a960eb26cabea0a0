"""Measure a GPU's ceilings when its worker starts, by the clock that submissions are timed with."""

from datetime import UTC, datetime

import torch

from kernels.contract import DEVICES, Ceilings, DeviceName
from workers.measure import anchor
from workers.measure.anchor import Anchor
from workers.measure.clock import Clock
from workers.measure.contender import Contender
from workers.measure.estimate import centre
from workers.measure.replay import capture
from workers.measure.sensors import Reading, Sensors, conditions

_COPY_BYTES = 1 << 30
_COPIES = 60
_SIZE = 8192
_WARM_UP = 0.15
"""Seconds of products, after which a GPU that caps its power does so."""

_PRODUCTS = 100


def measure(name: DeviceName) -> Ceilings:
    """The ceilings of GPU 0, which must be of that model; takes about a second."""
    # Graphs cannot be captured on the default stream; the process does nothing else.
    torch.cuda.set_stream(torch.cuda.Stream())  # type: ignore[no-untyped-call]
    sensors = Sensors(str(torch.cuda.get_device_properties(0).uuid))
    readings: list[Reading] = []

    def read() -> None:
        reading = sensors.read()
        if reading is not None:
            readings.append(reading)

    with torch.inference_mode():
        clock = Clock(DEVICES[name], seed=1)
        copied = _pass()
        clock.warm_up([_contender(copied)])
        copies = clock.race([_contender(copied)], _COPIES).times[copied.name]
        product = anchor.matmul("product", _SIZE)
        clock.warm_up([_contender(product)], _WARM_UP)
        products = clock.race([_contender(product)], _PRODUCTS, read).times[product.name]
    state = conditions(readings)
    return Ceilings(
        copy_bytes_per_second=copied.amount / centre(copies) * 1e6,
        matmul_flops_per_second=product.amount / centre(products) * 1e6,
        matmul_clock_hz=state.clock_hz,
        power_watts=state.power_watts,
        throttled=state.throttled,
        taken_at=datetime.now(UTC),
    )


def _contender(work: Anchor) -> Contender:
    return Contender(work.name, work.graph.replay)


def _pass() -> Anchor:
    """Reads 1 GiB and writes as much. Torch's copy_ would use the copy engines here, which on an
    H200 are slower than a kernel: 2.7 against 4.2 TB/s."""
    source = torch.zeros(_COPY_BYTES // 4, device="cuda")
    target = torch.empty_like(source)

    def work() -> None:
        torch.add(source, 1.0, out=target)

    work()
    return Anchor("copy", capture(work), 2 * _COPY_BYTES, None, (source, target))
