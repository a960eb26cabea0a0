"""What a worker says of itself, in a Redis key that expires unless it is renewed."""

from datetime import datetime
from typing import Literal

from kernels.contract._model import Model, ShortText
from kernels.contract.ceilings import Ceilings
from kernels.contract.device import DeviceName
from kernels.contract.rerun import RerunKind

HEARTBEAT_SECONDS = 5
EXPIRY_SECONDS = 20


class WorkerInfo(Model):
    """One worker process, as `/health` shows it."""

    name: ShortText
    host: ShortText
    role: Literal["build", "measure"]
    device: DeviceName | None = None
    """Of a measurer: the GPU model it serves."""
    gpu: ShortText | None = None
    """Of a measurer: what the driver calls its GPU, and its index."""
    ceilings: Ceilings | None = None
    """Of a measurer: what its GPU reached when it started; None if it failed to."""
    versions: dict[ShortText, ShortText]
    """Of python, torch, triton, driver."""
    jail: ShortText
    """Isolation level; names every missing layer."""
    jail_complete: bool
    """False where the operator allowed an unsafe jail."""
    inspections: dict[RerunKind, ShortText] = {}
    """Of a measurer: why it does not look at plans in each way, empty where it does."""
    state: Literal["starting", "idle", "busy", "quarantined", "draining", "drained"]
    """`draining`: it finishes the job at hand and takes no other; `drained`: it has ended."""
    detail: ShortText = ""
    started_at: datetime
    seen_at: datetime


def worker_key(name: str) -> str:
    """Redis key under which a worker's WorkerInfo lies."""
    return f"worker:{name}"


def drain_key(host: str) -> str:
    """Redis key that is there while the workers of a host are to take no jobs: who wants it."""
    return f"drain:{host}"
