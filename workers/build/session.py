"""One build: everything that stands between submitted code and torch, put together."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from triton.runtime import driver

from kernels.contract import DEVICES
from kernels.contract.wire import BuildRequest
from workers.build import ptxas
from workers.build.budget import Budget
from workers.build.candidates import Candidates
from workers.build.claims import Claims
from workers.build.clocks import Clocks
from workers.build.compilation import Compiler
from workers.build.dispatch import RecordingMode
from workers.build.functions import MetaFunctions, install_plain_functions
from workers.build.host_values import HostValues
from workers.build.kernels import BlobStore, KernelTable
from workers.build.launcher import RecordingDriver
from workers.build.picks import Picks
from workers.build.recorder import Recorder
from workers.build.source import FILE, Source
from workers.build.tuning import Tuning
from workers.build.worlds import Worlds
from workers.facade import Facade, Handler, Hooks, Refusal, Surroundings


class Session:
    """Installed once in a process that is used for one build only."""

    def __init__(
        self, request: BuildRequest, scratch: Path, budget: Budget, values: HostValues
    ) -> None:
        self.request = request
        self.budget = budget
        self.values = values
        self.source = Source(request.source, scratch)
        self.blobs = BlobStore(scratch / "blobs")
        self.kernels = KernelTable(scratch / "kernels", self.blobs)
        self.claims = Claims(scratch / "claims")
        self.recorder = Recorder(self.source.line)
        self.compiler = Compiler(self.claims, budget)
        device = DEVICES[request.device]
        finishing = request.task.permissions.finishing
        self.worlds = Worlds(scratch / "worlds", self.compiler)
        self.candidates = Candidates(self.worlds, self.recorder, self.kernels)
        self.picks = Picks(self.worlds, self.recorder)
        hooks = RecordingHooks(
            self.recorder, self.candidates, finishing, lambda: self.facade.function_mode()
        )
        self.facade = Facade(device, "meta", hooks)
        self._driver = RecordingDriver(device, self.recorder, self.kernels)

    def install(self) -> None:
        """Change torch and Triton for the whole process, for good."""
        setattr(Refusal, "heard", staticmethod(self.recorder.remember))  # noqa: B010  mypy
        self.facade.install()
        install_plain_functions(self.recorder)
        driver.set_active(self._driver)
        self.compiler.install()
        Tuning(self.recorder, self.compiler, self.picks).install()
        self.picks.install()
        ptxas.install()
        Clocks(self.facade.hooks).install()
        self.surroundings = Surroundings(FILE)


class RecordingHooks(Hooks):
    """The facade's hooks, leading to the recorder."""

    def __init__(
        self,
        recorder: Recorder,
        candidates: Candidates,
        finishing: bool,
        function_mode: Callable[[], AbstractContextManager[Any]],
    ) -> None:
        self._recorder = recorder
        self._candidates = candidates
        self._finishing = finishing
        self._function_mode = function_mode

    def handlers(self) -> Mapping[Any, Handler]:
        """Answers for tensors that have neither address nor values."""
        return MetaFunctions(self._recorder).handlers()

    def modes(self) -> Sequence[AbstractContextManager[Any]]:
        """The mode that records operations."""
        return [RecordingMode(self._recorder, self._finishing, self._all_modes)]

    def note(self, text: str) -> None:
        """Becomes a note of the plan."""
        self._recorder.note(text)

    def benchmark(self, call: Callable[[], object]) -> float:
        """The timed call is run for its errors and to know it again; its steps are dropped."""
        return self._candidates.time(call)

    def begin_capture(self) -> None:
        """A captured graph is a list of steps."""
        self._recorder.begin_graph()

    def end_capture(self) -> object:
        """The captured steps."""
        return self._recorder.end_graph()

    def replay(self, captured: object) -> None:
        """The captured steps once more."""
        self._recorder.repeat(captured if isinstance(captured, list) else [])

    def _all_modes(self) -> Sequence[AbstractContextManager[Any]]:
        return [self._function_mode(), *self.modes()]
