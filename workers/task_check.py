"""A task's self-test: its reference, its tolerance, and the verdict of every file beside them.

Everything goes through the same jails and functions as a submission does, without a queue.
"""

import json
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from kernels import statements
from kernels.catalog import TaskFolder
from kernels.contract import DeviceName, Plan, Submission, Verdict, strongest
from kernels.contract.bundle import first_problem
from kernels.fixtures import CatalogError, fixture, fixture_files
from workers.answers import JudgeFault
from workers.building import build
from workers.checking import check
from workers.jail import JailClient
from workers.ours import host_values
from workers.servers import socket_of
from workers.settings import ROOT, Settings

_SOLVED = "it solves the task, which is what its readers are to do"


@dataclass(frozen=True)
class Finding:
    """What was checked, and what is wrong with it."""

    subject: str
    problem: str = ""
    """Empty if nothing is."""


@dataclass(frozen=True)
class TaskCheck:
    """One task and the fork servers that judge its files."""

    folder: TaskFolder
    settings: Settings
    seeds: int
    """How often the solutions are checked."""

    def run(self) -> Iterator[Finding]:
        """All findings, as they come; with a reference that cannot be run, it is the last."""
        said = list(statements.problems(self.folder.task, self.folder.statement))
        yield from (Finding("statement.md", problem) for problem in said or [""])
        broken, problems = self._reference()
        yield from (Finding("reference.py", problem) for problem in problems or [""])
        if broken:
            return
        for path in self.folder.solutions:
            yield self._solution(path)
        verdict, reason = next(self._judge(self.folder.starter))
        problem = f"{verdict}, not a wrong answer: {reason or _SOLVED}"
        yield Finding("starter.py", "" if verdict is Verdict.WRONG_ANSWER else problem)
        for path in fixture_files(self.folder.path):
            yield from self._fixture(path)

    def _reference(self) -> tuple[bool, list[str]]:
        """Whether it cannot be run, and what is wrong with it."""
        request = {
            "task": self.folder.task.model_dump(mode="json"),
            "reference": str(self.folder.reference),
            "seed": secrets.randbits(62),
        }
        ended = subprocess.run(
            [sys.executable, "-m", "workers.measure.selftest"],
            input=json.dumps(request), capture_output=True, text=True, cwd=ROOT, check=False,
        )  # fmt: skip
        if ended.returncode != 0:
            return True, [_raised(ended.stderr, self.folder.reference)]
        found: list[str] = json.loads(ended.stdout)
        return False, found

    def _solution(self, path: Path) -> Finding:
        subject, source = f"solutions/{path.name}", path.read_text("utf-8")
        judged = self._judge(source, self.seeds, in_registers=True)
        for number, (verdict, reason) in enumerate(judged, 1):
            if verdict is not Verdict.CHECKED:
                return Finding(subject, f"seed {number}: {verdict}: {reason}")
        return Finding(subject)

    def _fixture(self, path: Path) -> Iterator[Finding]:
        subject = str(path.relative_to(self.folder.path))
        try:
            made = fixture(self.folder.path, path)
        except CatalogError as error:
            yield Finding(subject, str(error))
            return
        if not made.needs_gpu:
            verdict, reason = next(self._judge(made.source))
            right = verdict is made.verdict
            yield Finding(subject, "" if right else f"{verdict}: {reason or 'nothing is wrong'}")

    def _judge(
        self, source: str, seeds: int = 1, in_registers: bool = False
    ) -> Iterator[tuple[Verdict, str]]:
        """What the check without a GPU makes of a source, for so many seeds; built once.

        A build error if it must keep to registers and does not.
        """
        task = self.folder.task
        try:
            submission = self._submission(source)
        except ValidationError as error:
            yield Verdict.REJECTED, f"it cannot be submitted: {first_problem(error)}"
            return
        values = host_values(task, self.folder.reference, self._jail("measure"))
        built = build(submission, task, self._jail("build"), values)
        if built.bundle is None:
            assert built.failure is not None  # Built's invariant
            yield Verdict(built.failure.verdict), built.failure.reason
            return
        spilling = _spilling(built.bundle.plan)
        if in_registers and spilling:
            yield Verdict.BUILD_ERROR, f"{spilling} spills registers"
            return
        for _ in range(seeds):
            try:
                checked = check(
                    submission, task, self.folder.reference, built.bundle.plan,
                    self._jail("interpret"), self._jail("measure"),
                )  # fmt: skip
            except JudgeFault as fault:
                said = _raised(fault.detail, self.folder.reference)
                yield Verdict.JUDGE_ERROR, f"{fault}; {said}" if said else str(fault)
                return
            worst = strongest([case.verdict for case in checked.cases])
            yield worst, next((c.reason for c in checked.cases if c.verdict is worst), "")

    def _submission(self, source: str) -> Submission:
        task = self.folder.task
        return Submission(
            id="self-test-000",
            attempt=1,
            task=task.name,
            task_version=task.version,
            entry=task.entry,
            source=source,
            device=DeviceName.H200,
            measured=False,
        )

    def _jail(self, name: str) -> JailClient:
        return JailClient(socket_of(self.settings, name))


def _raised(traceback: str, path: Path) -> str:
    """The exception at the end of a printed traceback, and its last line in a file."""
    lines = re.findall(rf'File "{re.escape(str(path))}", line (\d+)', traceback)
    what = re.sub(r"^(\w+\.)+", "", traceback.strip().rpartition("\n")[2])
    return f"{path.name}, line {lines[-1]}: {what}" if lines else what


def _spilling(plan: Plan) -> str:
    names = {k.function for k in plan.kernels.values() if k.resources.stack_bytes}
    return ", ".join(sorted(names))
