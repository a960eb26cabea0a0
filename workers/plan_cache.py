"""Plans and reviews in Redis: one source for one task is not built, nor one plan rebuilt, twice."""

import functools
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

import redis

from kernels.contract import Bundle, Plan, Submission, Task, frame, limits
from kernels.contract._model import Model
from workers.building import checked_bundle
from workers.rebuilding import Provenance, Review
from workers.reports import version
from workers.settings import ROOT

SECONDS = 24 * 3600
ENTRIES = 64
"""Plans, and reviews, that are kept: the newest ones."""
ENTRY_BYTES = 4 * limits.MIB
"""Larger ones are not kept."""

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

    def __init__(
        self,
        connection: redis.Redis,
        submission: Submission,
        task: Task,
        values: Sequence[bytes] = (),
    ) -> None:
        self._shelf = _Shelf(connection, "plan")
        self._submission = submission
        self._task = task
        self._values = values
        self._key = key(submission, task, values)

    def get(self) -> CachedPlan | None:
        """The plan; None if it is not there or does not hold."""
        data = self._shelf.get(self._key)
        if data is None:
            return None
        try:
            header, blobs = frame.unpack(data)
            data = b"".join(blobs)
            bundle = checked_bundle(data, self._task, self._submission, self._values)
            return CachedPlan(bundle, _Header.model_validate_json(header).log)
        except ValueError:  # FrameRefused, PlanRefused and ValidationError are such
            self._shelf.drop(self._key)
            return None

    def put(self, plan: CachedPlan) -> None:
        """Keep a plan for a day, in place of the oldest if there are too many."""
        header = _Header(log=plan.log).model_dump_json()
        self._shelf.put(self._key, frame.pack(header, [plan.bundle.pack()]))


class ReviewCache:
    """Reviews by what their plans do; equal plans of different sources share one."""

    def __init__(self, connection: redis.Redis, plan: Plan) -> None:
        self._shelf = _Shelf(connection, "review")
        self._key = f"{plan.digest}-{code_version()}"

    def get(self) -> Review | None:
        """The review; None if it is not there."""
        data = self._shelf.get(self._key)
        if data is None:
            return None
        header, blobs = frame.unpack(data)
        provenance = Provenance.model_validate_json(header)
        return Review(provenance, dict(zip(_listed(provenance), blobs, strict=True)))

    def put(self, review: Review) -> None:
        """Keep a review that vouches for its plan, and no other.

        The key leaves the intermediate code out, and plans are public: one that was sent again
        with other code must not condemn its original.
        """
        if review.provenance.outcome == "identical":
            listings = [review.sass[sha] for sha in _listed(review.provenance)]
            self._shelf.put(self._key, frame.pack(review.provenance.model_dump_json(), listings))


def _listed(provenance: Provenance) -> list[str]:
    return [sha for sha, kernel in provenance.kernels.items() if kernel.mix is not None]


class _Shelf:
    """The newest entries of one kind."""

    def __init__(self, connection: redis.Redis, kind: str) -> None:
        self._redis = connection
        self._kind = kind
        self._index = f"{kind}s"

    def get(self, key: str) -> bytes | None:
        data = self._redis.get(f"{self._kind}:{key}")
        return data if isinstance(data, bytes) else None

    def drop(self, key: str) -> None:
        self._redis.delete(f"{self._kind}:{key}")

    def put(self, key: str, data: bytes) -> None:
        if len(data) > ENTRY_BYTES:
            return
        name = f"{self._kind}:{key}"
        pipe = self._redis.pipeline()
        pipe.set(name, data, ex=SECONDS)
        pipe.zadd(self._index, {name: time.time()})
        pipe.zrange(self._index, 0, -ENTRIES - 1)
        pipe.zremrangebyrank(self._index, 0, -ENTRIES - 1)
        oldest = pipe.execute()[2]
        if oldest:
            self._redis.delete(*oldest)


def key(submission: Submission, task: Task, values: Sequence[bytes] = ()) -> str:
    """Digest of everything that a plan follows from."""
    facts = [
        submission.source,
        submission.entry,
        submission.device.value,
        task.model_dump(mode="json"),
        [hashlib.sha256(content).hexdigest() for content in values],
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
