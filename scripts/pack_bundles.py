"""Build the solutions and fixtures of tasks into packed plans, to be measured elsewhere.

python scripts/pack_bundles.py FOLDER [TASK ...] writes FOLDER/<task>__<verdict>__<name>.bundle,
the verdict being the one that a GPU must give. Sources come from the repository and are trusted:
each is built in a forked child, but in no jail.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from kernels.catalog import Catalog, TaskFolder
from kernels.contract import DeviceName
from kernels.contract.wire import (
    BuildAnswer,
    BuildRequest,
    HostValuesAnswer,
    HostValuesRequest,
)
from workers.measure.check import make_host_values

SECONDS = 60.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--device", type=DeviceName, default=DeviceName.H200)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    import workers.build.prewarm  # noqa: F401  once, for all children

    failed = 0
    for folder in Catalog().values():
        if options.tasks and folder.task.name not in options.tasks:
            continue
        values = host_values(folder)
        for verdict, name, source in sources(folder):
            target = options.folder / f"{folder.task.name}__{verdict}__{name}.bundle"
            request = BuildRequest(
                source=source,
                entry=folder.task.entry,
                task=folder.task,
                device=options.device,
                seconds=SECONDS,
            )
            failed += not build(request, target, values)
    return failed


def host_values(folder: TaskFolder) -> tuple[bytes, ...]:
    """Bytes of a task's host-visible inputs."""
    request = HostValuesRequest(task=folder.task, reference=str(folder.reference))
    return tuple(HostValuesAnswer.unpack(make_host_values(request))[1])


def sources(folder: TaskFolder) -> Iterator[tuple[str, str, str]]:
    """Verdict, name and source of everything in a task's folder that gets as far as a plan."""
    for path in folder.solutions:
        yield "accepted", path.stem, path.read_text()
    for fixture in folder.fixtures:
        yield fixture.verdict.value, fixture.path.stem, fixture.source


def build(request: BuildRequest, target: Path, values: tuple[bytes, ...] = ()) -> bool:
    """Build in a child, which it changes for good; whether a plan was written."""
    started = time.monotonic()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        import workers.build.prewarm  # noqa: F401  each case would pay for it, were it cold
        from workers.build.main import run

        os.close(reader)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(run(request.pack(values)))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    answer, blobs = BuildAnswer.unpack(data)
    if answer.failure is None:
        target.write_bytes(blobs[0])
        note = f"{len(blobs[0]) / 1e6:.2f} MB"
    else:
        note = f"{answer.failure.verdict}: {answer.failure.reason}"
    print(f"{target.name:60} {time.monotonic() - started:6.2f} s  {note}", flush=True)
    return answer.failure is None


if __name__ == "__main__":
    main()
