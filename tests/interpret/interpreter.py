"""Runs submissions on the interpreter as the jail would: each in a fork of a warm process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from kernels.contract import Case, Cost, DeviceName, Distribution, Layout, Parameter, Task
from kernels.contract.wire import InterpretAnswer, InterpretRequest, Run
from tests.interpret.child import LENGTH

Tensors = list[torch.Tensor]


@dataclass(frozen=True)
class Interpreter:
    """A running child process."""

    process: "subprocess.Popen[bytes]"

    def ask(self, request: bytes) -> bytes:
        """What `workers.interpret.main.run` answers; empty if its process died."""
        source, sink = self.process.stdout, self.process.stdin
        assert source is not None
        assert sink is not None
        sink.write(len(request).to_bytes(LENGTH, "little") + request)
        sink.flush()
        return source.read(int.from_bytes(source.read(LENGTH), "little"))

    def run(
        self, source: str, task: Task, inputs: Tensors, **more: Any
    ) -> tuple[InterpretAnswer, Tensors]:
        """Run the task's only case once; inputs are given by their storages."""
        (case,) = task.cases
        request = InterpretRequest(
            source=source,
            entry=task.entry,
            task=task,
            device=DeviceName.H200,
            runs=(Run(case=case.name, distribution=Distribution.NORMAL, round=0),),
            **more,
        )
        answer, blobs = InterpretAnswer.unpack(
            self.ask(request.pack(tuple(_storage_bytes(tensor) for tensor in inputs)))
        )
        wanted = task.results(case) if answer.with_results(request.runs) else ()
        results = [
            torch.frombuffer(bytearray(blob), dtype=getattr(torch, spec.dtype.value))
            for blob, spec in zip(blobs, wanted, strict=True)
        ]
        return answer, results


@contextmanager
def start() -> Iterator[Interpreter]:
    """A child process, ended afterwards."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.interpret.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        yield Interpreter(process)
        assert process.stdin is not None
        process.stdin.close()


def vectors(
    count: int, dtype: str = "float32", inputs: int = 1, layout: Layout = Layout.CONTIGUOUS
) -> Task:
    """A task from vectors a, b, ... of one length to a vector y."""
    names = "abcd"[:inputs]
    return Task(
        name="vectors",
        title="Vectors",
        summary="Vectors.",
        inputs=tuple(Parameter(name=name, shape=("N",)) for name in names),
        outputs=(Parameter(name="y", shape=("N",)),),
        cases=(
            Case(
                name="only",
                kind="benchmark",
                interpreter=True,
                values={"N": count, "dtype": dtype},
                layouts=dict.fromkeys(names, layout),
            ),
        ),
        cost=Cost(bytes="N"),
    )


def _storage_bytes(tensor: torch.Tensor) -> bytes:
    storage = tensor.untyped_storage()
    flat = torch.empty(0, dtype=torch.uint8).set_(storage, 0, (storage.nbytes(),), (1,))
    return flat.numpy().tobytes()
