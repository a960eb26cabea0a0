"""Plans and answers that a hostile process makes of a right one: refused in words or harmless."""

import copy
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels.contract import Bundle, DeviceName, PlanRefused, Submission, frame, limits
from kernels.contract.wire import AnswerRefused, BuildAnswer, InterpretAnswer, InterpretRequest, Run
from tests.build.builds import COPY, COPYING, built
from tests.hostile.rows import ALL
from workers import building, checking, reports
from workers.answers import failure_of
from workers.jail import Limits, Outcome, Status
from workers.kernel_reports import kernel_reports

EXAMPLES = settings(
    max_examples=3_000 if ALL else 250,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
BODY = """
@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["count"])
@triton.jit
def tuned(x_ptr, y_ptr, scale, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < count) * scale, mask=at < count)

def solve(x):
    y = run(x, torch.zeros_like(x))
    z = torch.empty(200, device="cuda")[50:150]
    tuned[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](y, z, 1.0, 100)
    run(torch.tensor([1.0, 2.0], device="cuda"), torch.empty(2, device="cuda"))
    return torch.cat([z[:50], z[50:]])
"""
SUBMISSION = Submission(
    id="s", attempt=1, task="example", task_version=1, device=DeviceName.H200, measured=False,
    entry="solve", source=COPY + BODY,
)  # fmt: skip
RUNS = (Run(case="case_0", distribution="normal", round=0),) * 2
WORDS = (
    "", "x", "\0", "\ud800", "../../etc/passwd", "inf", "0x1p99999", "aten.mm.default", "0" * 64,
    "launch", "op", "choice", "pointer", "input", "output", "constant", "case_0", "A" * 70_000,
)  # fmt: skip
NUMBERS = (0, 1, -1, 2, 255, 2**31, 2**31 - 1, 2**32, 2**62, 2**63, -(2**63), 10**30, 0.5, 1e308)
EVIL = st.one_of(
    st.sampled_from(NUMBERS), st.sampled_from(WORDS), st.none(), st.booleans(),
    st.just([]), st.just({}), st.just([[]] * 70), st.just(float("nan")), st.just({"kind": "op"}),
    st.integers(), st.floats(), st.text(max_size=8),
)  # fmt: skip


@cache
def honest() -> tuple[str, tuple[bytes, ...]]:
    """Header and blobs of a plan with everything in it."""
    header, blobs = frame.unpack(built(SUBMISSION.source, COPYING).pack())
    return header.decode(), tuple(blobs)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a JSON document."""
    if path:
        yield path
    if isinstance(value, dict):
        children: Any = value.items()
    else:
        children = enumerate(value if isinstance(value, list) else ())
    for key, child in children:
        yield from places(child, (*path, key))


def changed(document: Any, path: tuple[Any, ...], how: str, value: Any) -> Any:
    """A copy with one place set, taken away, or doubled."""
    changed = copy.deepcopy(document)
    parent = changed
    for key in path[:-1]:
        parent = parent[key]
    match how:
        case "set":
            parent[path[-1]] = value
        case "remove":
            del parent[path[-1]]
        case "double" if isinstance(parent, list):
            parent.insert(path[-1], parent[path[-1]])
        case _:
            parent[str(value)[:50] if isinstance(parent, dict) else 0] = copy.deepcopy(
                parent[path[-1]]
            )
    return changed


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Headers of a right plan with a few things changed."""
    document = json.loads(honest()[0])
    for _ in range(draw(st.integers(1, 3))):
        where = draw(st.sampled_from(list(places(document)) or [("plan",)]))
        how = draw(st.sampled_from(["set", "set", "set", "remove", "double", "move"]))
        how = how if document else "set"
        document = changed(document, where, how, draw(EVIL))
    return json.dumps(document)


def judged(bundle: bytes) -> Bundle | None:
    """What the build stage makes of the bytes; everything a worker does with a plan is done."""
    try:
        found = building.checked_bundle(bundle, COPYING, SUBMISSION)
    except PlanRefused as error:
        refused = str(error)
    else:
        _used(found)
        return found
    assert 0 < len(refused) < 2_000
    return None


def _used(found: Bundle) -> None:
    plan = found.plan
    request = InterpretRequest(
        source=SUBMISSION.source, entry="solve", task=COPYING, device=DeviceName.H200, runs=RUNS,
        kernels=checking._facts(plan), configs=checking._configs(plan),
    )  # fmt: skip
    assert InterpretRequest.unpack(request.pack())[0] == request
    assert len(Bundle.unpack(found.pack()).plan.kernels) <= limits.KERNELS
    kernel_reports(plan, COPYING)


def test_the_plan_that_is_changed_is_a_right_one() -> None:
    header, blobs = honest()
    assert judged(frame.pack(header, blobs)) is not None
    for word in ('"choice"', '"op"', '"constant"', '"pointer"', '"float"'):
        assert word in header


@EXAMPLES
@given(documents())
def test_a_changed_header_is_refused_or_harmless(header: str) -> None:
    try:
        data = frame.pack(header, honest()[1])
    except UnicodeEncodeError:
        data = frame.pack(header.encode("utf-8", "replace").decode(), honest()[1])
    judged(data)


@EXAMPLES
@given(st.data())
def test_a_changed_cubin_under_its_right_name_is_refused_or_harmless(data: st.DataObject) -> None:
    header, blobs = honest()
    index = data.draw(st.sampled_from([i for i, b in enumerate(blobs) if b[:4] == b"\x7fELF"]))
    cubin = bytearray(blobs[index])
    for _ in range(data.draw(st.integers(1, 4))):
        # Its head, its section table at the end, or anywhere.
        place = data.draw(st.integers(0, 63) | st.integers(-2048, -1) | st.integers(0, 10**6))
        width = data.draw(st.sampled_from([1, 2, 4, 8]))
        start = place % len(cubin)
        value = data.draw(st.sampled_from([0, 1, 2 ** (8 * width) - 1]) | st.integers(0, 255))
        piece = value.to_bytes(8, "little")[:width]
        cubin[start : start + width] = piece
    cubin = cubin[: data.draw(st.just(len(cubin)) | st.integers(0, len(cubin)))]
    old, new = (hashlib.sha256(x).hexdigest() for x in (blobs[index], cubin))
    forged = [bytes(cubin) if i == index else blob for i, blob in enumerate(blobs)]
    judged(frame.pack(header.replace(old, new), forged))


@EXAMPLES
@given(st.binary(max_size=400), st.integers(0, 2**20), st.sampled_from(["cut", "put", "insert"]))
def test_changed_bytes_are_refused_or_harmless(piece: bytes, place: int, how: str) -> None:
    data = frame.pack(*honest())
    place %= len(data)
    keep = {"cut": len(data), "put": place + len(piece), "insert": place}[how]
    judged(data[:place] + piece + data[keep:])


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    """What a hostile process may answer instead of results."""
    failure = {
        "verdict": draw(st.sampled_from(["rejected", "accepted", "runtime_error", "judge_error"])),
        "reason": draw(st.sampled_from(WORDS)),
        "diagnostics": draw(
            st.lists(
                st.fixed_dictionaries(
                    {"message": st.sampled_from(WORDS)},
                    optional={"line": st.sampled_from(NUMBERS), "remedy": st.sampled_from(WORDS)},
                ),
                max_size=17,
            )
        ),
    }
    document: Any = {
        "completed": draw(st.sampled_from([0, 1, 2, 3, 1000, -1, 10**9])),
        "left_out": draw(
            st.dictionaries(st.sampled_from(["0", "1", "-1", "x"]), st.sampled_from(WORDS))
        ),
        "failure": draw(st.none() | st.just(failure)),
        "caveats": draw(st.lists(st.sampled_from(WORDS), max_size=17)),
    }
    if draw(st.booleans()):
        where = draw(st.sampled_from(list(places(document))))
        document = changed(document, where, draw(st.sampled_from(["set", "remove"])), draw(EVIL))
    size = COPYING.results(COPYING.cases[0])[0].nbytes
    blobs = draw(
        st.lists(st.sampled_from([bytes(size), b"\xff" * size, b"", bytes(size - 1)]), max_size=4)
    )
    return frame.pack(json.dumps(document), blobs)


@EXAMPLES
@given(answers())
def test_an_answer_of_the_interpreter_is_refused_or_reported(data: bytes) -> None:
    answer, results = checking._read(data, COPYING, RUNS)
    assert isinstance(answer, InterpretAnswer)
    if answer.failure is None:
        assert answer.completed == len(RUNS)
        assert len(results) == len(answer.with_results(RUNS))
        return
    case = checking._failed(COPYING.cases[0], answer.failure)
    report = reports.judged(
        SUBMISSION, (case,), caveats=answer.caveats, diagnostics=answer.failure.diagnostics
    )
    assert type(report).model_validate_json(report.model_dump_json()) == report
    assert not report.verdict.passed


@EXAMPLES
@given(answers() | st.binary(max_size=200))
def test_an_answer_of_the_build_is_refused_or_reported(data: bytes) -> None:
    try:
        answer, _ = BuildAnswer.unpack(data)
    except AnswerRefused:
        return
    if answer.failure is not None:
        report = reports.failed(SUBMISSION, answer.failure, log="\0\ud800"[:1])
        assert type(report).model_validate_json(report.model_dump_json()) == report


@pytest.mark.parametrize("status", [s for s in Status if s not in (Status.OK, Status.ERROR)])
@pytest.mark.parametrize("code", [0, 1, 64, 127, 255, -1, 2**31])
def test_every_end_of_a_jail_is_a_verdict(status: Status, code: int) -> None:
    outcome = Outcome(
        status, signal=code, exit_code=code, output="\0\x1b" * 100, error="x" * 70_000
    )
    found = failure_of(outcome, Limits(), "building")
    assert found is not None
    report = reports.failed(SUBMISSION, found, log=outcome.output)
    assert not report.verdict.passed
