"""Asking our own code in the measure server; a failure there is the judge's fault."""

from pathlib import Path

from kernels.contract import Task, limits
from kernels.contract.wire import HostValuesAnswer, HostValuesRequest
from workers.answers import JudgeFault, failure_of
from workers.jail import JailClient, Limits

_LIMITS = Limits(
    wall_s=60, cpu_s=120, memory_bytes=8 * limits.GIB, result_bytes=limits.BUNDLE_BYTES
)


def ask(ours: JailClient, request: bytes, doing: str) -> bytes:
    """The answer to a request; JudgeFault if there is none."""
    outcome = ours.run(request, _LIMITS)
    failure = failure_of(outcome, _LIMITS, doing)
    if failure is not None:
        raise JudgeFault(failure.reason, outcome.output)
    return outcome.result


def host_values(task: Task, reference: Path, ours: JailClient) -> tuple[bytes, ...]:
    """Bytes of each host-visible input of each case, in order; asks nobody if there are none."""
    if not any(parameter.host_visible for parameter in task.inputs):
        return ()
    request = HostValuesRequest(task=task, reference=str(reference))
    answer = ask(ours, request.pack(), "making host-visible inputs")
    return tuple(HostValuesAnswer.unpack(answer)[1])
