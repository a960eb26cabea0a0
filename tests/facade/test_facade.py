"""What host code sees of a GPU that is not there."""

import _thread
import threading
from collections.abc import Callable
from typing import Any, Literal

import pytest
import torch

from kernels.contract import DEVICES, DeviceName
from tests.forked import forked
from workers.facade import Facade, Hooks, Refusal

Backing = Literal["cpu", "meta"]


def in_facade(function: Callable[[], Any], backing: Backing = "cpu", hooks: Any = None) -> Any:
    """What the function returns in a child where the facade is installed and entered."""

    def child() -> Any:
        facade = Facade(DEVICES[DeviceName.H200], backing, hooks)
        facade.install()
        with facade:
            return function()

    return forked(child)


both = pytest.mark.parametrize("backing", ["cpu", "meta"])


@both
def test_tensors_claim_to_be_on_the_gpu(backing: Backing) -> None:
    def host() -> Any:
        x = torch.empty(4, device="cuda", dtype=torch.float16)
        return str(x.device), x.is_cuda, x.is_cpu, x.get_device(), x.type(), x.is_meta

    expected = ("cuda:0", True, False, 0, "torch.cuda.HalfTensor", False)
    assert in_facade(host, backing) == expected


@both
@pytest.mark.parametrize("spelling", ["cuda", "cuda:0", 0, torch.device("cuda"), "positional"])
def test_every_spelling_of_the_device_is_understood(backing: Backing, spelling: Any) -> None:
    def host() -> Any:
        if spelling == "positional":
            return str(torch.ones(2).to("cuda", torch.float16).device)
        return str(torch.zeros(2, device=spelling).device)

    assert in_facade(host, backing) == "cuda:0"


def test_a_cpu_tensor_stays_one_beside_shapes_alone() -> None:
    assert in_facade(lambda: str(torch.ones(2).device), "meta") == "cpu"


def test_torchs_own_meta_device_stays_itself_beside_values() -> None:
    def host() -> Any:
        layer = torch.nn.Linear(2, 2, device="meta")
        moved = torch.ones(2, device="cuda").to("meta")
        seen = str(layer.weight.device), layer.weight.is_meta, layer.weight.is_cuda, moved.is_meta
        return (*seen, layer.to_empty(device="cuda").weight.is_cuda)

    assert in_facade(host, "cpu") == ("meta", True, False, True, True)


@both
def test_default_devices_reach_factories(backing: Backing) -> None:
    def host() -> Any:
        with torch.device("cuda"):
            inside = str(torch.empty(2).device)
        torch.set_default_device("cuda")
        return inside, str(torch.empty(2).device), str(torch.get_default_device())

    assert in_facade(host, backing) == ("cuda:0", "cuda:0", "cuda:0")


@both
def test_another_gpu_is_refused_with_a_remedy(backing: Backing) -> None:
    def host() -> Any:
        messages = []
        for attempt in (
            lambda: torch.empty(2, device="cuda:1"),
            lambda: torch.ones(2).cuda(1),
            lambda: torch.cuda.set_device(3),
            lambda: torch.cuda.device(1),
        ):
            try:
                attempt()
            except Refusal as refusal:
                messages.append((refusal.reason, refusal.remedy))
        return messages

    messages = in_facade(host, backing)
    assert len(messages) == 4
    assert messages[0] == (
        "device cuda:1 does not exist: a submission sees one GPU",
        "use device 'cuda'",
    )


def test_device_facts_are_those_of_the_contract() -> None:
    def host() -> Any:
        facts: Any = torch.cuda.get_device_properties(0)
        backends: Any = torch.backends
        return (
            torch.cuda.is_available(),
            torch.cuda.device_count(),
            torch.cuda.get_device_capability(),
            torch.cuda.get_device_name(0),
            facts.multi_processor_count,
            facts.shared_memory_per_block_optin,
            torch.accelerator.current_accelerator(),
            torch.version.cuda,
            backends.cuda.is_built() and backends.cudnn.is_available(),
        )

    device = DEVICES[DeviceName.H200]
    assert in_facade(host) == (
        True,
        1,
        (9, 0),
        device.full_name,
        device.sm_count,
        device.shared_bytes_per_block,
        torch.device("cuda"),
        "12.8",
        True,
    )


def test_libraries_that_nothing_uses_answer_as_on_a_gpu() -> None:
    def host() -> Any:
        backends: Any = torch.backends
        plans = backends.cuda.cufft_plan_cache
        plans.max_size = 8
        plans[0].clear()
        return backends.cudnn.version(), plans.size, plans.max_size, plans[0].max_size

    assert in_facade(host) == (92_000, 0, 8, 8)


def test_streams_events_and_ranges_are_one_order_of_work() -> None:
    class Noting(Hooks):
        def __init__(self) -> None:
            self.notes: list[str] = []

        def note(self, text: str) -> None:
            self.notes.append(text)

    hooks = Noting()

    def host() -> Any:
        cuda: Any = torch.cuda
        side = cuda.Stream()
        side.wait_stream(cuda.current_stream())
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        with cuda.stream(side), cuda.nvtx.range("work"):
            start.record()
            torch.zeros(2, device="cuda").record_stream(side)
            end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end), hooks.notes

    milliseconds, notes = in_facade(host, hooks=hooks)
    assert milliseconds == 1.0
    assert "timed itself with events" in notes[0]


def test_graphs_are_captured_and_replayed_through_the_hooks() -> None:
    class Capturing(Hooks):
        def __init__(self) -> None:
            self.calls: list[str] = []

        def begin_capture(self) -> None:
            self.calls.append("begin")

        def end_capture(self) -> object:
            self.calls.append("end")
            return "work"

        def replay(self, captured: object) -> None:
            self.calls.append(f"replay {captured}")

    hooks = Capturing()

    def host() -> Any:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            pass
        graph.replay()
        graph.replay()
        return hooks.calls

    assert in_facade(host, hooks=hooks) == ["begin", "end", "replay work", "replay work"]


@both
def test_user_code_run_by_the_autograd_engine_sees_the_gpu(backing: Backing) -> None:
    def host() -> Any:
        seen: list[str] = []

        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
                seen.append(str(x.device))
                return x * 2

            @staticmethod
            def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
                seen.append(str(grads[0].device))
                return grads[0] * 2

        x = torch.empty(3, device="cuda", requires_grad=True)
        function: Any = Double
        function.apply(x).sum().backward()
        return seen

    assert in_facade(host, backing) == ["cuda:0", "cuda:0"]


def test_threads_see_the_gpu() -> None:
    def host() -> Any:
        seen: list[str] = []
        thread = threading.Thread(target=lambda: seen.append(str(torch.empty(1, device=0).device)))
        thread.start()
        thread.join()
        return seen

    assert in_facade(host, "meta") == ["cuda:0"]


def test_generators_compilation_and_autocast() -> None:
    def host() -> Any:
        generator = torch.Generator(device="cuda")
        generator.manual_seed(1)

        @torch.compile(mode="max-autotune")
        def double(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        with torch.autocast("cuda", enabled=False):
            doubled = double(torch.ones(1, device="cuda")).item()
        try:
            torch.autocast("cuda", dtype=torch.float16)
        except Refusal as refusal:
            return isinstance(generator, torch.Generator), doubled, refusal.remedy

    assert in_facade(host) == (True, 2.0, "cast explicitly with .to(dtype)")


def test_benchmarks_answer_a_constant_and_say_so() -> None:
    def host() -> Any:
        import triton.testing

        calls: list[int] = []
        bench = triton.testing.do_bench
        times = bench(lambda: calls.append(1), quantiles=(0.5, 0.2, 0.8))
        return times, calls, triton.testing.get_dram_gbps()

    assert in_facade(host) == ([1.0, 1.0, 1.0], [], 4800.0)


@both
def test_threads_of_every_kind_see_the_gpu(backing: Backing) -> None:
    def host() -> Any:
        seen: list[str] = []
        done = threading.Event()

        def look(then: Callable[[], None]) -> None:
            seen.append(str(torch.empty(1, device="cuda").device))
            then()

        class Overriding(threading.Thread):
            def run(self) -> None:
                look(lambda: None)

        for thread in (Overriding(), threading.Thread(target=look, args=(lambda: None,))):
            thread.start()
            thread.join()
        _thread.start_new_thread(look, (done.set,))
        done.wait()
        return seen

    assert in_facade(host, backing) == ["cuda:0"] * 3


@both
def test_pinning_copies(backing: Backing) -> None:
    def host() -> Any:
        tensor = torch.zeros(1)
        pinned = tensor.pin_memory()
        tensor += 1
        return pinned.item()

    assert in_facade(host, backing) == 0
