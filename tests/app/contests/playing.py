"""A house with a contest in it: hosts, participants, and workers who judge what they submit."""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import httpx
import redis
from rq.exceptions import NoSuchJobError
from rq.job import Job
from rq.serializers import JSONSerializer

from app.redis_server import connect
from app.roles import Role
from app.settings import Settings
from kernels.catalog import Catalog
from kernels.contract import Submission, Verdict, job_id
from kernels.contract.rerun import Rerun
from tests.app.accounts.house import House, opened
from tests.app.judging import SOURCE, WORKER, beat, report
from tests.app.rerunning import sitting
from workers.events import Publisher
from workers.reruns import RerunPublisher

API = "/api/v1/contests"
HOUR = timedelta(hours=1)
_PATIENCE_SECONDS = 20
_ACCEPTED: Mapping[str, Verdict] = {}
Found = TypeVar("Found")


@dataclass(frozen=True)
class Arena:
    """A running service with a measurer, and its host."""

    house: House
    host: httpx.Client
    queue: redis.Redis

    def contest(self, name: str, **fields: Any) -> dict[str, Any]:
        """A new contest on softmax that runs, unless its fields say otherwise."""
        now = datetime.now(UTC)
        wanted = {
            "name": name,
            "title": f"Contest {name}",
            "tasks": ["softmax"],
            "device": "H200",
            "starts_at": when(now - HOUR),
            "ends_at": when(now + HOUR),
        }
        answer = self.host.post(API, json=wanted | fields)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def change(self, contest: str, **fields: Any) -> None:
        """Change a contest, as its host does."""
        answer = self.host.patch(f"{API}/{contest}", json=fields)
        assert answer.status_code == 200, answer.text

    def joined(self, name: str, contest: str, **fields: Any) -> httpx.Client:
        """A new account that takes part."""
        person = self.house.person(name)
        answer = person.post(f"{API}/{contest}/entrants", json=fields)
        assert answer.status_code == 201, answer.text
        return person

    def judged(
        self,
        person: httpx.Client,
        contest: str,
        microseconds: float,
        *,
        task: str = "softmax",
        spread: float = 0.002,
    ) -> str:
        """A submission for a contest that is accepted with that score."""
        name: str = submit(person, contest, task=task).json()["id"]
        self.accept(name, microseconds, spread=spread)
        detail = person.get(f"/api/v1/submissions/{name}", params={"wait": 20}).json()
        assert detail["verdict"] == "accepted", detail
        return name

    def accept(self, name: str, microseconds: float, *, spread: float = 0.002) -> None:
        """Judge a submission that waits for a builder: it is accepted with that score."""
        job = Job.fetch(job_id("build", name, 1), self.queue, serializer=JSONSerializer)
        given = Submission.model_validate(job.args[0])
        voice = Publisher(self.queue, given, WORKER)
        bundle = f"plan of {name}".encode()
        voice.built(bundle, hashlib.sha256(bundle).hexdigest())
        found = report(given, Verdict.ACCEPTED, microseconds=microseconds, spread=spread)
        voice.report(found.model_copy(update={"rebuilt": "identical"}))

    def measured_again(
        self, rerun: str, scores: dict[str, float], verdicts: Mapping[str, Verdict] = _ACCEPTED
    ) -> None:
        """The measurer takes a rerun and finds these scores; what has no verdict is accepted."""
        job = until(lambda: self._job(rerun))
        voice = RerunPublisher(self.queue, job, WORKER)
        for turn in job.turns:
            verdict = verdicts.get(turn.submission, Verdict.ACCEPTED)
            found = sitting(job, turn, scores[turn.submission], verdict=verdict)
            voice.sitting(turn, found)
        voice.end(gpu_seconds=1.0)
        seen = self.host.get(f"/api/v1/reruns/{rerun}", params={"wait": 20}).json()
        assert seen["state"] == "done", seen

    def _job(self, rerun: str) -> Rerun | None:
        try:
            job = Job.fetch(job_id("rerun", rerun, 1), self.queue, serializer=JSONSerializer)
        except NoSuchJobError:
            return None
        return Rerun.model_validate(job.args[0])


@contextmanager
def arena(settings: Settings, catalog: Catalog) -> Iterator[Arena]:
    """Lives as long as the block."""
    with opened(settings, catalog) as house:
        queue = connect(settings.redis_address)
        house.visitors.callback(queue.close)
        beat(queue, name="m", role="measure", device="H200")
        yield Arena(house, house.person("host", Role.ADMIN), queue)


def submit(person: httpx.Client, contest: str, **fields: Any) -> httpx.Response:
    """Submit for a contest; each source is another."""
    source = f"{SOURCE}# {time.monotonic_ns()}\n"
    body = {"task": "softmax", "source": source, "contest": contest} | fields
    return person.post("/api/v1/submissions", json=body)


def until(look: Callable[[], Found | None]) -> Found:
    """What is found as soon as it is there."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (found := look()) is None:
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)
    return found


def when(moment: datetime) -> str:
    """As JSON."""
    return moment.isoformat()


def now() -> str:
    """The present moment as JSON."""
    return when(datetime.now(UTC))
