"""Hold plans against the host code they were made from, which runs as it is on a GPU.

    KERNELJUDGE_KEEP_BUILDS=FOLDER pytest tests/build tests/tasks/test_built.py
    python -m scripts.gpu_replays FOLDER [--jobs 14] [--seconds 60] [--only NAME] [--json FILE]

The first command, on any machine, keeps what the tests build: the request and its plan. The second,
on a machine with a Hopper GPU and the same Triton, runs each submission natively, replays its plan
on the same inputs with every alternative of every choice, and as a graph, and compares the results.
Natively, tuners take the first configuration that fits: what the others do is compared with it.
Sources come from the repository and are trusted: nothing here is jailed.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import triton.testing
from torch import Tensor
from triton.compiler.errors import CompileTimeAssertionFailure
from triton.runtime.autotuner import Autotuner
from triton.runtime.errors import OutOfResources, PTXASError

from kernels.contract import Bundle, Case, CasePlan, Distribution, NumberSpec, TensorSpec, limits
from kernels.contract.tensor import nested
from kernels.contract.wire import BuildRequest
from workers.facade.entry import callable_of
from workers.measure import inputs
from workers.measure.reference import Reference, torch_dtype

_ITEM_SECONDS = 20.0
_CLOSE = {"atol": 1e-2, "rtol": 1e-2}
"""For alternatives that add in another order than the one that was taken natively."""
_ORDER = ("same", "close", "different", "damage")
_UNFIT = (OutOfResources, CompileTimeAssertionFailure, PTXASError)


@dataclass(frozen=True)
class Compared:
    """How one case's replays compare with the native run."""

    case: str
    verdict: str
    """`same` bits, `close`, `different`, or `damage` outside the buffers."""
    replays: int
    detail: str = ""


def main() -> int:
    """0 if every replay gave what the native run gave."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=14)
    parser.add_argument("--seconds", type=float, default=600.0, help="give up after so long")
    parser.add_argument("--only", default="", help="part of the names to replay")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    names = [p.stem for p in sorted(options.folder.glob("*.request")) if options.only in p.stem]
    with tempfile.TemporaryDirectory() as scratch:
        results = Workers(options.folder, Path(scratch), options.seconds).run(names, options.jobs)
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))
    return summarise(results)


def summarise(results: Mapping[str, Any]) -> int:
    """Print what is not alike, and how many are."""
    count: Counter[str] = Counter()
    replays = 0
    for name, found in results.items():
        verdicts = [case["verdict"] for case in found.get("cases", ())]
        replays += sum(case["replays"] for case in found.get("cases", ()))
        if "problem" in found:
            verdicts.append(found["problem"])
        worst = next((v for v in verdicts if v not in _ORDER[:2]), None)
        count["different" if worst else "close" if "close" in verdicts else "same"] += 1
        if worst:
            print(f"NOT {name}: {json.dumps(found)[-700:]}")
    print(f"{len(results)} submissions, {replays} replays: {dict(count)}")
    return count["different"]


@dataclass
class _Worker:
    """A process with a CUDA context, and what it has left to do."""

    pid: int
    names: list[str]
    answers: Path
    seen: int = 0
    since: float = field(default_factory=time.monotonic)


class Workers:
    """Processes that each compare some of the builds; one that breaks is followed by another."""

    def __init__(self, folder: Path, scratch: Path, seconds: float) -> None:
        self._folder = folder
        self._scratch = scratch
        self._deadline = time.monotonic() + seconds
        self._results: dict[str, Any] = {}
        self._count = 0

    def run(self, names: Sequence[str], jobs: int) -> dict[str, Any]:
        """What was found, by name."""
        shares = [list(names[i::jobs]) for i in range(jobs)]
        workers = [self._start(share) for share in shares if share]
        while workers:
            time.sleep(0.02)
            workers = [next_ for worker in workers if (next_ := self._watch(worker))]
        return self._results

    def _start(self, names: list[str]) -> _Worker:
        self._count += 1
        answers = self._scratch / str(self._count)
        answers.touch()
        pid = os.fork()
        if pid == 0:
            _work(self._folder, names, answers)
        return _Worker(pid, names, answers)

    def _watch(self, worker: _Worker) -> _Worker | None:
        """The worker, or the one that goes on after it."""
        ended = os.waitpid(worker.pid, os.WNOHANG)[0] != 0
        lines = worker.answers.read_text().splitlines()
        if len(lines) > worker.seen:
            self._results |= {k: v for line in lines for k, v in json.loads(line).items()}
            worker.seen, worker.since = len(lines), time.monotonic()
        late = time.monotonic() > self._deadline
        if not ended and (late or time.monotonic() > worker.since + _ITEM_SECONDS):
            os.kill(worker.pid, signal.SIGKILL)
            os.waitpid(worker.pid, 0)
            ended = True
        if not ended:
            return worker
        left = [name for name in worker.names if name not in self._results]
        if left and len(lines) == worker.seen and not late and not _broke(lines):
            self._results[left[0]] = {"problem": "it did not end, or ended its process"}
            left = left[1:]
        if late:
            self._results |= {name: {"problem": "there was no time for it"} for name in left}
        return self._start(left) if left and not late else None


def _broke(lines: list[str]) -> bool:
    return bool(lines) and "problem" in next(iter(json.loads(lines[-1]).values()))


def _work(folder: Path, names: list[str], answers: Path) -> None:
    """Compare builds, in a child that ends here; after an error its CUDA context may be broken."""
    torch.set_num_threads(1)
    _take_the_first()
    # What torch.empty gives is NaN then, as in a replay.
    torch.use_deterministic_algorithms(True, warn_only=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with answers.open("a", buffering=1) as lines:
        for name in names:
            try:
                found: dict[str, Any] = {"cases": [vars(c) for c in compare(folder / name)]}
            except BaseException:  # noqa: BLE001  a child must answer, whatever went wrong
                found = {"problem": traceback.format_exc()[-1500:]}
            lines.write(json.dumps({name: found}) + "\n")
            if "problem" in found and _broken():
                os._exit(1)
    os._exit(0)


def _broken() -> bool:
    """Whether this process can no longer use its CUDA context."""
    try:
        torch.cuda.synchronize()
        torch.zeros(1, device="cuda").item()
    except Exception:  # noqa: BLE001  whatever it is, the context is of no use
        return True
    return False


def _take_the_first() -> None:
    """Let tuners take the first configuration that fits, and time nothing."""

    def bench(tuner: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
        if vars(tuner).get("_decided") is tuner.nargs:
            return [2.0] * 3
        keywords = {**meta, **config.all_kwargs(), "warmup": True}
        if config.pre_hook is not None:
            config.pre_hook({**tuner.nargs, **keywords})
        try:
            tuner.fn.run(*args, **keywords)._init_handles()
        except _UNFIT:
            return [float("inf")] * 3
        tuner._decided = tuner.nargs
        return [1.0] * 3

    def do_bench(fn: Callable[[], object], *_: Any, quantiles: Any = None, **__: Any) -> Any:
        fn()
        return [1.0] * len(quantiles) if quantiles else 1.0

    Autotuner._bench = bench
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = do_bench


def compare(item: Path) -> Iterator[Compared]:
    """Every case of a kept build, natively and replayed."""
    request, values = BuildRequest.unpack(item.with_suffix(".request").read_bytes())
    bundle = Bundle.unpack(item.with_suffix(".bundle").read_bytes())
    shown = iter(values)
    for case in request.task.cases:
        specs = request.task.host_visible(case)
        buffers = _buffers(request, case, {spec.name: next(shown) for spec in specs})
        expected = _native(request, case, buffers)
        torch.cuda.synchronize()
        with torch.cuda.stream(torch.cuda.Stream()):  # type: ignore[no-untyped-call]
            yield _replayed(bundle, bundle.plan.case(case.name), buffers, expected)


def _buffers(request: BuildRequest, case: Case, shown: Mapping[str, bytes]) -> dict[str, Tensor]:
    def given(specs: Sequence[TensorSpec], *_: object) -> list[Tensor]:
        return [inputs.strided(_bytes_of(shown[spec.name]), spec) for spec in specs]

    reference = Reference(_nothing, _nothing, make_host_visible=given)
    return inputs.make(request.task, case, Distribution.NORMAL, 0, 1, reference, "cuda").buffers


def _bytes_of(content: bytes) -> Tensor:
    tensor = torch.empty(len(content), dtype=torch.uint8)
    return (
        tensor.copy_(torch.frombuffer(bytearray(content), dtype=torch.uint8)) if content else tensor
    )


def _nothing(*_: object) -> None:
    """A reference that is never asked."""


def _native(request: BuildRequest, case: Case, buffers: Mapping[str, Tensor]) -> list[Tensor]:
    """Row-major results of the host code, run as anyone would run it."""
    copies = {name: buffer.clone() for name, buffer in buffers.items()}
    specs, results = request.task.arguments(case), request.task.results(case)
    arguments = [
        spec.value if isinstance(spec, NumberSpec) else inputs.strided(copies[spec.name], spec)
        for spec in specs
    ]
    outputs: list[Tensor] = []
    if request.task.style == "out":
        outputs = [
            torch.empty(spec.shape, dtype=torch_dtype(spec.dtype), device="cuda")
            for spec in results
        ]
    entry = callable_of(vars(_module(request.source))[request.entry])
    assert entry is not None
    passed = [output.view(output.shape) for output in outputs]  # whose name may become another's
    returned = entry(*nested(specs, arguments), *nested(results[: len(passed)], passed))
    found = outputs or (returned if isinstance(returned, tuple | list) else [returned])
    return [tensor.detach().contiguous() for tensor in found]


def _module(source: str) -> ModuleType:
    path = Path(tempfile.mkdtemp()) / "submission.py"
    path.write_text(source)
    module = ModuleType("submission")
    module.__file__ = str(path)
    sys.modules["submission"] = module
    exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)
    return module


def _replayed(
    bundle: Bundle, plan: CasePlan, buffers: Mapping[str, Tensor], expected: list[Tensor]
) -> Compared:
    from workers.measure.launch import Kernels
    from workers.measure.replay import Replay

    replay = Replay(plan, bundle, Kernels(bundle), "cuda")
    image = replay.memory.image(buffers)
    worst, detail = "same", ""
    runs = [*((picks, False) for picks in _picks(plan)), ({}, True)]
    for picks, as_graph in runs:
        graph = replay.capture(picks) if as_graph else None
        replay.memory.load(image)
        replay.memory.restore_constants()
        replay.memory.poison(0xFF)
        if graph is None:
            replay.run_watched(picks)
        else:
            graph.replay()
        torch.cuda.synchronize()
        found = _alike(list(replay.outputs), expected)
        damage = replay.memory.damage(image, replay.unchanged, in_place=True)
        found = found if damage is None else "damage"
        if _ORDER.index(found) > _ORDER.index(worst):
            worst = found
            detail = f"picks {picks}, graph {as_graph}, {damage or _farthest(replay, expected)}"
    return Compared(plan.case, worst, len(runs), detail)


def _picks(plan: CasePlan) -> Iterator[dict[int, int]]:
    """No pick but the first, then each further alternative of each choice."""
    yield {}
    sizes = {s.id: len(s.alternatives) for s in plan.steps if s.kind == "choice"}
    for choice, size in sizes.items():
        for index in range(1, min(size, limits.ALTERNATIVES)):
            yield {choice: index}


def _alike(found: list[Tensor], expected: list[Tensor]) -> str:
    if [(t.shape, t.dtype) for t in found] != [(t.shape, t.dtype) for t in expected]:
        return "different"
    pairs = list(zip(found, expected, strict=True))
    if all(torch.equal(_bits(a), _bits(b)) for a, b in pairs):
        return "same"
    close = all(torch.allclose(a.double(), b.double(), equal_nan=True, **_CLOSE) for a, b in pairs)
    return "close" if close else "different"


def _farthest(replay: Any, expected: list[Tensor]) -> str:
    pairs = zip(replay.outputs, expected, strict=True)
    return str([float((a.double() - b.double()).abs().nan_to_num().max()) for a, b in pairs])


def _bits(tensor: Tensor) -> Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)


if __name__ == "__main__":
    sys.exit(main())
