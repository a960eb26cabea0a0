"""Streams, events and graphs of the pretended GPU: everything happens in one order."""

from typing import Any, ClassVar, Self

from workers.facade.hooks import Hooks
from workers.facade.placement import CUDA, check_index

EVENTS = (
    "host code timed itself with events: every time it read was 1 ms, and what it timed is part of "
    "the plan; triton.testing.do_bench would leave it out"
)


class Context:
    """A context manager that changes nothing, such as torch.cuda.device of the only GPU."""

    def __init__(self, target: Any = None, *_: Any, **__: Any) -> None:
        self.idx = 0
        self.prev_idx = 0
        if isinstance(target, int):
            check_index(target)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class Event:
    """A point in the one order of work; it takes no time to reach."""

    hooks: ClassVar[Hooks] = Hooks()

    def __init__(self, *_: Any, **__: Any) -> None:
        self.cuda_event = 0
        self.device = CUDA

    def record(self, stream: Any = None) -> None:
        """Nothing to wait for."""

    def wait(self, stream: Any = None) -> None:
        """Nothing to wait for."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def query(self) -> bool:
        """Whether the event was reached."""
        return True

    def elapsed_time(self, end_event: Self) -> float:
        """Milliseconds between two events: a constant, since nothing runs."""
        self.hooks.note(EVENTS)
        return 1.0


class Stream(Context):
    """The only stream; every object of this class is the same one."""

    def __init__(self, device: Any = None, priority: int = 0, **__: Any) -> None:
        super().__init__(device)
        self.device = CUDA
        self.priority = priority
        self.cuda_stream = self.stream_id = self.device_index = 0
        self.device_type = 1

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait_stream(self, stream: Any) -> None:
        """Nothing to wait for."""

    def wait_event(self, event: Any) -> None:
        """Nothing to wait for."""

    def record_event(self, event: Event | None = None) -> Event:
        """An event at this point."""
        return Event() if event is None else event

    def query(self) -> bool:
        """Whether all work is done."""
        return True


class Graph:
    """torch.cuda.CUDAGraph: what was captured is launched again by `replay`."""

    hooks: ClassVar[Hooks] = Hooks()

    def __init__(self, *_: Any, **__: Any) -> None:
        self._captured: object = None

    def capture_begin(self, *_: Any, **__: Any) -> None:
        """Start recording."""
        self.hooks.begin_capture()

    def capture_end(self) -> None:
        """Stop recording."""
        self._captured = self.hooks.end_capture()

    def replay(self) -> None:
        """Launch what was recorded."""
        self.hooks.replay(self._captured)

    def reset(self) -> None:
        """Forget what was recorded."""
        self._captured = None

    def pool(self) -> tuple[int, int]:
        """Identifier of the graph's memory pool."""
        return (0, 0)


class GraphCapture:
    """torch.cuda.graph: captures its body."""

    def __init__(self, cuda_graph: Graph, *_: Any, **__: Any) -> None:
        self._graph = cuda_graph

    def __enter__(self) -> None:
        self._graph.capture_begin()

    def __exit__(self, *_: object) -> None:
        self._graph.capture_end()
