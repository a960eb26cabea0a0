"""A house entry: the report of the best solution of a task that comes with the project."""

from typing import Self

from pydantic import model_validator

from kernels.contract._model import Model, Name, Sha256
from kernels.contract.report import Report
from kernels.contract.verdict import Verdict


class Record(Model):
    """What a solution reached when it was judged like anyone's."""

    solution: Name
    """Its file under the task's solutions, without the ending."""
    source_sha256: Sha256
    """Of the source as it was judged."""
    report: Report
    """With versions and date."""

    @model_validator(mode="after")
    def _accepted(self) -> Self:
        if self.report.verdict is not Verdict.ACCEPTED or self.report.score is None:
            raise ValueError("a record is of an accepted solution that was measured")
        return self
