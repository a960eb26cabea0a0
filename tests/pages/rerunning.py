"""Plays the measurer's part in reruns of submissions that a page shows."""

import hashlib
import time
from datetime import UTC, datetime
from typing import Any

from rq.job import Job
from rq.serializers import JSONSerializer

from kernels.contract import STREAM, BuiltEvent, bundle_key, job_id
from kernels.contract.inspection import Access, AccessError, Inspection, KernelProfile, Race, Stall
from kernels.contract.rerun import Rerun, RerunKind
from tests.app.judging import beat
from tests.pages import samples
from tests.pages.site import Site
from workers.reruns import RerunPublisher

PLAN = b"a packed plan"
FOUND = Inspection(
    tool="compute-sanitizer 2025.3.1",
    cases=("one_column",),
    left_out=("ragged_760",),
    errors=(
        AccessError(
            case="one_column",
            kernel="softmax_kernel",
            access=Access(kind="write", line=13),
            space="global",
            nbytes=4,
            reason="is out of bounds",
            distance=f"1 bytes after {samples.HOSTILE}",
            thread="(0,0,0)",
            block="(4,0,0)",
            count=12,
        ),
    ),
    total=12,
    notes=(samples.HOSTILE,),
    seconds=4.2,
)
RACES = Inspection(
    tool="compute-sanitizer 2025.3.1",
    cases=("one_column",),
    races=(
        Race(
            case="one_column",
            kernel="softmax_kernel",
            first=Access(kind="read", line=12),
            second=Access(kind="write", line=11),
            hazards=256,
        ),
    ),
    total=1,
    seconds=4.2,
)
PROFILE = Inspection(
    tool="ncu 2025.3.1",
    cases=("short_rows",),
    profiles=(
        KernelProfile(
            case="short_rows",
            kernel="softmax_kernel",
            microseconds=31.2,
            memory=0.73,
            compute=0.55,
            occupancy=0.83,
            occupancy_limit=1.0,
            limited_by=("registers",),
            load_sectors=16.0,
            load_use=1.0,
            stalls=(Stall(reason="long_scoreboard", share=0.64),),
            findings=("It waits for memory.",),
        ),
    ),
    total=1,
    seconds=8.0,
)


def offer(site: Site, **inspections: str) -> None:
    """A measurer is there that says this of inspections."""
    beat(site.queue, name="m", role="measure", device="H200", inspections=inspections)


def accepted(site: Site, scale: float = 1.0, plan: bytes = PLAN) -> str:
    """A submission that was measured here, with its plan."""
    _until_known(site)
    submission = site.submit()
    site.queue.set(bundle_key(submission, 1), plan)
    built = BuiltEvent(
        submission=submission,
        attempt=1,
        plan=hashlib.sha256(plan).hexdigest(),
        worker="worker-1",
        at=datetime.now(UTC),
    )
    site.queue.xadd(STREAM, {"event": built.model_dump_json()})
    return site.finish(samples.accepted(submission, scale=scale))


def _until_known(site: Site) -> None:
    """Heartbeats are read once a second; only then are submissions measured."""
    while "H200" not in site.http.get("/api/v1/health").json()["measured_devices"]:
        time.sleep(0.05)


def ask(site: Site, submission: str, what: str, **data: str) -> str:
    """Press a button; the id of the rerun."""
    response = site.http.post(f"/submissions/{submission}/{what}", data=data)
    assert response.status_code == 303, response.text
    assert response.headers["location"].startswith(f"/submissions/{submission}#")
    return str(site.http.get(f"/api/v1/submissions/{submission}/reruns").json()[0]["id"])


def measurer_of(site: Site, rerun: str) -> tuple[RerunPublisher, Rerun]:
    """The voice of a measurer that has taken the job."""
    name = job_id("rerun", rerun, 1)
    while not Job.exists(name, site.queue):
        time.sleep(0.05)  # it is queued by a thread of the service
    job = Job.fetch(name, site.queue, serializer=JSONSerializer)
    site.queue.lrem("rq:queue:measure:H200", 1, job.id)
    given = Rerun.model_validate(job.args[0])
    return RerunPublisher(site.queue, given, "worker-1"), given


def wait(site: Site, rerun: str) -> dict[str, Any]:
    found: dict[str, Any] = site.http.get(f"/api/v1/reruns/{rerun}?wait=20").json()
    return found


def measure(site: Site, submission: str, **changes: Any) -> None:
    """Press the button and answer as a measurer does."""
    rerun = ask(site, submission, "remeasure")
    voice, given = measurer_of(site, rerun)
    report = samples.accepted(submission).model_copy(update=changes)
    voice.sitting(given.turns[0], report)
    voice.end()
    assert wait(site, rerun)["state"] == "done"


def look(site: Site, submission: str, kind: RerunKind, found: Inspection) -> None:
    """Press the button and answer as a measurer does."""
    rerun = ask(site, submission, "inspect", kind=kind.value)
    voice, _ = measurer_of(site, rerun)
    voice.end(found)
    assert wait(site, rerun)["state"] == "done"
