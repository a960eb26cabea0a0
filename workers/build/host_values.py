"""Values of inputs that host code may read, as they come with a request."""

from collections.abc import Mapping, Sequence

from kernels.contract import Task
from kernels.contract.wire import AnswerRefused

HostValues = Mapping[tuple[str, str], bytes]
"""Bytes of each host-visible input's buffer, by case and name."""


def of(task: Task, blobs: Sequence[bytes]) -> HostValues:
    """The blobs of a BuildRequest by what they are; AnswerRefused if they do not fit the task."""
    wanted = [(case.name, spec) for case in task.cases for spec in task.host_visible(case)]
    if [len(blob) for blob in blobs] != [spec.nbytes for _, spec in wanted]:
        raise AnswerRefused("the host-visible values do not have the sizes of the task's inputs")
    return {(case, spec.name): blob for (case, spec), blob in zip(wanted, blobs, strict=True)}
