"""Plans that were built before, in Redis: the same source for the same task is not built twice."""

import functools
import hashlib
import json
import time
from dataclasses import dataclass

import redis

from kernels.contract import Bundle, Submission, Task, frame, limits
from kernels.contract._model import Model
from workers.building import checked_bundle
from workers.reports import version
from workers.settings import ROOT

SECONDS = 24 * 3600
ENTRIES = 64
"""Plans that are kept, the newest ones."""
ENTRY_BYTES = 4 * limits.MIB
"""Larger plans are not kept."""

_INDEX = "plans"
_CODE = ("kernels/contract", "workers/build", "workers/facade", "workers/jail")


class _Header(Model):
    log: str


@dataclass(frozen=True)
class CachedPlan:
    """A plan from the cache, checked as if it came out of the jail."""

    bundle: Bundle
    log: str
    """What the submission printed when it was built."""


class PlanCache:
    """The entry of one submission; what it holds is hostile input like any plan."""

    def __init__(self, connection: redis.Redis, submission: Submission, task: Task) -> None:
        self._redis = connection
        self._submission = submission
        self._task = task
        self._key = f"plan:{key(submission, task)}"

    def get(self) -> CachedPlan | None:
        """The plan; None if it is not there or does not hold."""
        data = self._redis.get(self._key)
        if not isinstance(data, bytes):
            return None
        try:
            header, blobs = frame.unpack(data)
            bundle = checked_bundle(b"".join(blobs), self._task, self._submission)
            return CachedPlan(bundle, _Header.model_validate_json(header).log)
        except ValueError:  # FrameRefused, PlanRefused and ValidationError are such
            self._redis.delete(self._key)
            return None

    def replace(self, bundle: Bundle) -> None:
        """Keep a fuller bundle of the plan that is there; nothing if none is."""
        known = self.get()
        if known is not None and known.bundle.plan.digest == bundle.plan.digest:
            self.put(CachedPlan(bundle, known.log))

    def put(self, plan: CachedPlan) -> None:
        """Keep a plan for a day, in place of the oldest if there are too many."""
        data = frame.pack(_Header(log=plan.log).model_dump_json(), [plan.bundle.pack()])
        if len(data) > ENTRY_BYTES:
            return
        pipe = self._redis.pipeline()
        pipe.set(self._key, data, ex=SECONDS)
        pipe.zadd(_INDEX, {self._key: time.time()})
        pipe.zrange(_INDEX, 0, -ENTRIES - 1)
        pipe.zremrangebyrank(_INDEX, 0, -ENTRIES - 1)
        oldest = pipe.execute()[2]
        if oldest:
            self._redis.delete(*oldest)


def key(submission: Submission, task: Task) -> str:
    """Digest of everything that a plan follows from."""
    facts = [
        submission.source,
        submission.entry,
        submission.device.value,
        task.model_dump(mode="json"),
        code_version(),
    ]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


@functools.cache
def code_version() -> str:
    """Digest of Triton's and torch's versions and of our own code that builds."""
    digest = hashlib.sha256(f"{version('triton')} {version('torch')}".encode())
    for folder in _CODE:
        for path in sorted((ROOT / folder).glob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
