"""Cases traced in processes of their own, which answer with files in the scratch."""

import contextlib
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kernels.contract import CasePlan
from kernels.contract._model import Model
from kernels.contract.wire import Failure
from workers.build import assembly, case
from workers.build.failures import BuildFailed, failure, of_exception
from workers.build.kernels import write_whole
from workers.build.schedule import ANSWERED, FAILED, STARVED, ended, flush, silence
from workers.build.session import Session
from workers.build.source import SubmissionRaised
from workers.facade import Refusal

_WATCH_SECONDS = 0.1


class BuildFault(RuntimeError):
    """The build itself went wrong: never the submission's fault."""


class Answer(Model):
    """What the process of one case found; one of the three."""

    plan: CasePlan | None = None
    failure: Failure | None = None
    fault: str | None = None
    """Traceback of an error of ours."""


def prepare(session: Session) -> "Prepared":
    """Execute the submission's module; BuildFailed if that fails or it lacks the entry."""
    with session.facade, _alarm(session):
        module = called(session, session.source.execute)
    session.recorder.importing = False
    entry = case.entry_of(module, session.request.entry)
    return Prepared(session, entry)


@contextlib.contextmanager
def _alarm(session: Session) -> Iterator[None]:
    """End an import that does not end; cases have their own watch, which kills."""

    def ring(*_: object) -> None:
        exceeded = session.budget.exceeded()
        if exceeded is None:
            return
        raise BuildFailed(
            "timeout",
            f"building took more than {exceeded}: the module was still being imported",
            "leave what takes long to the entry function, or to a kernel",
            session.source.line(),
        )

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, _WATCH_SECONDS, _WATCH_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def called(session: Session, function: Callable[[], Any]) -> Any:
    """What submitted code returns; BuildFailed for what it raises."""
    try:
        return function()
    except SubmissionRaised as raised:
        recorder = session.recorder
        found = of_exception(raised.error, session.source, recorder.refusals)
        raise BuildFailed.of(found) from None


class Prepared:
    """A submission whose module was executed, ready for its cases."""

    def __init__(self, session: Session, entry: Callable[..., Any]) -> None:
        self._session = session
        self._entry = entry
        self._prefix = len(session.recorder.steps)
        """Steps that the module itself recorded at import."""
        self._folder = session.source.path.parent / "answers"
        self._folder.mkdir()

    def work(self, number: int, helper: bool) -> int:
        """Trace a case in this process, a child; its exit status."""
        try:
            return self._worked(number, helper)
        except OSError:  # it had all that an honest submission needs
            return STARVED

    def _worked(self, number: int, helper: bool) -> int:
        if helper:
            silence()
        else:
            self._session.worlds.explore(number)
        answer = self._answered(number)
        flush()
        if not helper:
            self._write(number, answer)
        return ANSWERED if answer.plan is not None else FAILED

    def _write(self, number: int, answer: Answer) -> None:
        path = self._session.worlds.answer
        if path is None:
            write_whole(self._path(number), answer.model_dump_json().encode())
        elif answer.plan is not None:
            write_whole(path, answer.plan.model_dump_json().encode())

    def plans(self) -> list[CasePlan]:
        """The plans of all cases; BuildFailed for the first failure, BuildFault for one of ours."""
        plans = []
        for number in range(len(self._session.request.task.cases)):
            answer = self._read(number)
            if answer.failure is not None:
                raise BuildFailed.of(answer.failure)
            if answer.plan is None:
                raise BuildFault(answer.fault)
            plans.append(answer.plan)
        return plans

    def _read(self, number: int) -> Answer:
        # Submitted code can write to the scratch too, and choose its exit status.
        try:
            return Answer.model_validate_json(self._path(number).read_bytes())
        except (OSError, ValidationError):
            raise BuildFailed("build_error", *ended("without an answer")) from None

    def _answered(self, number: int) -> Answer:
        try:
            return Answer(plan=self._plan(number))
        except BuildFailed as error:
            return Answer(failure=error.failure)
        except BaseException as error:  # noqa: BLE001  a jailed child's main: whose error it is must be told
            cause = self._session.surroundings.blame(error)
            if cause is None:
                return Answer(fault=traceback.format_exc())
            return Answer(failure=failure("build_error", cause, []))

    def _plan(self, number: int) -> CasePlan:
        session, task = self._session, self._session.request.task
        chosen = task.cases[number]
        arguments = case.arguments(task, chosen, session.values, session.recorder)
        try:
            outputs = case.trace(task, chosen, arguments, self._entry, self._call, session.recorder)
            session.candidates.keep_effects({view.buffer for view in outputs})
            plan = assembly.assemble(chosen, session.recorder, outputs, self._prefix, session.blobs)
        except BuildFailed as error:
            if task.style == "out" or error.line is not None:
                raise
            raise error.at(self._line_of_return(arguments)) from None
        return _with_swallowed(
            session.picks.linked(session.candidates.merged(plan)), session.recorder.refusals
        )

    def _line_of_return(self, arguments: Sequence[Any]) -> int | None:
        """Line at which the entry function returns, which is called again to see it."""
        lines: list[int] = []
        source = self._session.source
        with contextlib.suppress(BuildFailed):  # it did not fail the first time: it keeps state
            self._call(
                lambda: source.watching_returns(lambda: self._entry(*arguments), lines.append)
            )
            return lines[-1] if lines else None
        return None

    def _call(self, function: Callable[[], Any]) -> Any:
        with self._session.facade:
            return called(self._session, lambda: self._session.source.call(function))

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.json"


def _with_swallowed(plan: CasePlan, refusals: Sequence[tuple[Refusal, int | None]]) -> CasePlan:
    """The plan with a note on each refusal that host code caught, to do something else instead."""
    notes = [
        f"host code caught a refusal{'' if line is None else f' at line {line}'}: {refusal.reason}"
        for refusal, line in refusals
    ]
    if not notes:
        return plan
    kept = dict.fromkeys((*plan.notes, *(note[:500] for note in notes)))
    return plan.model_copy(update={"notes": tuple(kept)[:64]})
