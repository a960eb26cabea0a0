"""Host code that times kernels itself gets a choice, as if it had used an autotuner."""

from kernels.contract import CasePlan, Choice, Launch, PointerArgument, TensorOp
from tests.build.builds import AFTER_COPY, COPYING, plan_of

UNTIMED = "host code timed kernels with do_bench: every time it read was 1 ms"
TIMED = "        times = {block: do_bench(lambda: launch(x, y, block)) for block in blocks}"
TUNER = f"""
from triton.testing import do_bench

def launch(x, y, block):
    copy[(triton.cdiv(100, block),)](x, y, 100, BLOCK=block)

CACHE = {{}}
def tuned(x, y, blocks=(32, 64, 128)):
    if x.dtype not in CACHE:
{TIMED}
        CACHE[x.dtype] = min(times, key=times.get)
    launch(x, y, CACHE[x.dtype])
"""


def choices(case: CasePlan) -> list[Choice]:
    return [step for step in case.steps if isinstance(step, Choice)]


def grids(choice: Choice) -> list[list[int]]:
    """Number of programs of every launch in every alternative."""
    return [[s.grid[0] for s in a.steps if isinstance(s, Launch)] for a in choice.alternatives]


def test_every_timed_candidate_is_an_alternative() -> None:
    case = plan_of(
        TUNER + "def solve(x):\n    y = torch.empty_like(x)\n    tuned(x, y)\n    return y"
    )
    (choice,) = case.steps
    assert isinstance(choice, Choice)
    assert choice.function == "do_bench"
    assert grids(choice) == [[4], [2], [1]]
    line = AFTER_COPY + TUNER.splitlines().index(TIMED)
    assert [alternative.config for alternative in choice.alternatives] == [
        "the first candidate",
        f"candidate 2, line {line}",
        f"candidate 3, line {line}",
    ]
    assert case.notes == ("do_bench: 3 timed calls became a choice",)


def test_all_launches_of_a_cached_candidate_are_one_choice() -> None:
    case = plan_of(
        TUNER
        + """
def solve(x):
    y, z = torch.empty_like(x), torch.zeros_like(x)
    tuned(x, y)
    z.copy_(y)
    tuned(z, y)
    return y
"""
    )
    assert [step.kind for step in case.steps] == ["op", "choice"]
    (choice,) = choices(case)
    assert grids(choice) == [[4, 4], [2, 2], [1, 1]]
    zeros = case.steps[0]
    assert isinstance(zeros, TensorOp)
    assert [view.buffer for view in choice.restore] == [zeros.outputs[0].buffer]


def test_two_tuners_are_two_choices() -> None:
    case = plan_of(
        TUNER
        + """
def solve(x):
    y, z = torch.empty_like(x), torch.empty_like(x)
    tuned(x, y)
    CACHE.clear()
    tuned(y, z, (16, 256))
    return z
"""
    )
    first, second = case.steps
    assert isinstance(first, Choice)
    assert isinstance(second, Choice)
    assert grids(first) == [[4], [2], [1]]
    assert grids(second) == [[7], [1]]
    assert first.id != second.id


def test_candidates_may_need_memory_of_their_own() -> None:
    case = plan_of(
        TUNER
        + """
def split(x, y, parts):
    partial = torch.empty(parts, 100, device="cuda")
    for part in range(parts):
        launch(x, partial[part], 64)
    launch(partial[0], y, 64)

def solve(x):
    y = torch.empty_like(x)
    best = max((1, 2, 3), key=lambda n: 1 / do_bench(lambda: split(x, y, n), quantiles=[0.5]))
    split(x, y, best)
    return y
"""
    )
    (choice,) = choices(case)
    assert [len(alternative.steps) for alternative in choice.alternatives] == [1, 2, 3]
    last = choice.alternatives[2].steps[2]
    assert isinstance(last, Launch)
    target = last.arguments[1]
    assert isinstance(target, PointerArgument)
    assert (target.buffer, target.offset) == (5, 800)
    assert case.buffers[5].nbytes == 1200


def test_candidates_may_need_constants_of_their_own() -> None:
    case = plan_of(
        TUNER
        + """
def launch(x, y, block):
    table = torch.tensor([block], device="cuda", dtype=torch.float32)
    scratch = torch.empty(block, device="cuda").copy_(table)
    run(table, scratch)
    copy[(triton.cdiv(100, block),)](x, y, 100, BLOCK=block)
    run(scratch[:1], scratch)

def solve(x):
    y = torch.empty_like(x)
    tuned(x, y)
    return run(y, torch.empty_like(y))
"""
    )
    choice, common, _ = case.steps
    assert isinstance(choice, Choice)
    assert isinstance(common, Launch)
    tables = []
    for alternative in choice.alternatives:
        copied, launched = alternative.steps[:2]
        assert isinstance(copied, TensorOp)
        assert isinstance(launched, Launch)
        table, scratch = launched.arguments[:2]
        assert isinstance(table, PointerArgument)
        assert isinstance(scratch, PointerArgument)
        assert copied.views()[2].buffer == table.buffer
        assert copied.outputs[0].buffer == scratch.buffer
        tables.append(case.buffers[table.buffer or 0])
        assert scratch == common.arguments[1]
    assert {table.role for table in tables} == {"constant"}
    assert len({table.content for table in tables}) == 3


def test_a_subclassed_autotuner_with_its_own_loop() -> None:
    case = plan_of("""
from triton.runtime.autotuner import Autotuner

class Tuner(Autotuner):
    def run(self, *args, **kwargs):
        self.nargs = dict(zip(self.arg_names, args))
        times = {c: self._bench(*args, config=c, **kwargs) for c in self.configs}
        best = min(times, key=times.get)
        return self.fn.run(*args, **kwargs, **best.all_kwargs())

tuned = Tuner(copy, copy.arg_names, [triton.Config({"BLOCK": b}) for b in (32, 64)], ["count"],
              None, None)

def solve(x):
    y = torch.empty_like(x)
    tuned[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, y, 100)
    return y
""")
    (choice,) = choices(case)
    assert grids(choice) == [[4], [2]]


def test_a_choice_among_kernels_that_are_tuned_takes_their_first_configuration() -> None:
    case = plan_of("""
@triton.autotune([triton.Config({"BLOCK": b}) for b in (32, 64)], key=["count"])
@triton.jit
def tuned(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < count), mask=offsets < count)

def solve(x):
    y = torch.empty_like(x)
    ways = [lambda: tuned[lambda m: (triton.cdiv(100, m["BLOCK"]),)](x, y, 100), lambda: run(x, y)]
    min(ways, key=triton.testing.do_bench)()
    return y
""")
    (choice,) = choices(case)
    assert grids(choice) == [[4], [2]]
    assert all(not isinstance(s, TensorOp) for a in choice.alternatives for s in a.steps)


def test_timing_that_decides_nothing_is_noted_and_leaves_no_steps() -> None:
    case = plan_of("""
def solve(x):
    y = torch.empty_like(x)
    triton.testing.do_bench(lambda: run(x, y))
    return run(x, y)
""")
    assert [step.kind for step in case.steps] == ["launch"]
    assert case.notes == (UNTIMED,)


def test_clocks_of_python_tell_nothing_and_say_so() -> None:
    body = """
from time import perf_counter, time_ns

def solve(x):
    y, times = torch.empty_like(x), {}
    for block in (64, 128, 32):
        started, also = perf_counter(), time_ns()
        copy[(4,)](x, y, 100, BLOCK=block)
        times[block] = perf_counter() - started
        assert time_ns() - also == 2_000_000
    copy[(4,)](x, y, 100, BLOCK=min(times, key=lambda block: round(times[block], 6)))
    return y
"""
    case = plan_of(body)
    assert case == plan_of(body)
    assert [note for note in case.notes if "host code read a clock" in note]
    first, *_, last = [step for step in case.steps if isinstance(step, Launch)]
    assert first.kernel == last.kernel


def test_timing_at_import_or_within_a_graph_is_not_followed() -> None:
    case = plan_of(
        TUNER
        + """
X = torch.empty(100, device="cuda")
tuned(X, torch.empty_like(X))

def solve(x):
    y, graph = torch.empty_like(x), torch.cuda.CUDAGraph()
    CACHE.pop(x.dtype)
    with torch.cuda.graph(graph):
        tuned(x, y)
    graph.replay()
    return y
"""
    )
    assert [step.kind for step in case.steps] == ["launch"]
    assert case.notes == (UNTIMED,)


def test_a_candidate_that_fails_is_left_out() -> None:
    case = plan_of("""
def launch(x, y, block):
    copy[(triton.cdiv(100, block),)](x, y, 100, BLOCK=block)

def solve(x):
    y = torch.empty_like(x)
    best = min((32, 64, 128), key=lambda b: triton.testing.do_bench(lambda: launch(x, y, b)))
    assert best != 64
    launch(x, y, best)
    print("once")
    return y
""")
    (choice,) = choices(case)
    assert grids(choice) == [[4], [1]]


def test_other_results_are_no_alternative() -> None:
    case = plan_of(
        """
def solve(x):
    y, z = torch.empty_like(x), torch.empty_like(x)
    best = min((y, z), key=lambda t: triton.testing.do_bench(lambda: run(x, t)))
    return run(x, best)
""",
        COPYING,
    )
    assert [step.kind for step in case.steps] == ["launch"]
    assert case.notes == (UNTIMED,)


def test_equal_submissions_with_candidates_give_equal_plans() -> None:
    body = TUNER + "def solve(x):\n    y = torch.empty_like(x)\n    tuned(x, y)\n    return y"
    assert plan_of(body) == plan_of(body)


def test_changes_that_exclude_each_other_are_one_choice() -> None:
    case = plan_of(
        """
        from triton.testing import do_bench

        def solve(x):
            y, s, u = torch.empty_like(x), torch.empty_like(x), torch.empty_like(x)
            [tensor.data_ptr() for tensor in (y, s, u)]

            def first(way):
                if way != 2:
                    run(x, y)

            def second(way):
                if way != 3:
                    run(u, y)

            def timed(way):
                copy[(way,)](x, u, 100, BLOCK=64)

            times = {way: do_bench(lambda: timed(way)) for way in (1, 2, 3)}
            best = min(times, key=times.get)
            first(best)
            for _ in range(3):
                run(x, s)
                run(s, u)
            second(best)
            return y
        """
    )
    (choice,) = choices(case)
    # Never without both of the copies that one of the candidates goes without.
    assert sorted(len(alternative.steps) for alternative in choice.alternatives) == [7, 7, 8]


def test_what_only_a_timed_call_wrote_is_written_in_the_plan_too() -> None:
    case = plan_of(
        TUNER
        + """
def solve(x):
    y = torch.empty_like(x)
    print(do_bench(lambda: launch(x, y, 64)))
    return y
"""
    )
    assert [step.kind for step in case.steps] == ["launch"]
    assert any("what a timed call wrote is used later" in note for note in case.notes)


def test_a_timed_call_that_prepares_what_another_kernel_reads_is_in_the_plan() -> None:
    case = plan_of(
        TUNER
        + """
@triton.jit
def doubled(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x_ptr + offsets, mask=offsets < count)
    tl.store(y_ptr + offsets, value * 2, mask=offsets < count)

def solve(x):
    packed, y, unused = torch.zeros_like(x), torch.empty_like(x), torch.empty_like(x)
    do_bench(lambda: launch(x, unused, 32))
    do_bench(lambda: launch(x, packed, 64))
    doubled[(2,)](packed, y, 100, BLOCK=64)
    return y
"""
    )
    launches = [step for step in case.steps if isinstance(step, Launch)]
    assert [launch.grid[0] for launch in launches] == [2, 2]
    assert case.steps[0].kind == "op"


def test_timeit_times_too() -> None:
    case = plan_of(
        TUNER
        + """
import timeit

def solve(x):
    y = torch.empty_like(x)
    seconds = {b: timeit.timeit(lambda: launch(x, y, b), number=10) for b in (32, 64)}
    launch(x, y, min(seconds, key=seconds.get))
    return y
"""
    )
    (choice,) = choices(case)
    assert grids(choice) == [[4], [2]]


def test_timing_for_information_alone_adds_nothing() -> None:
    case = plan_of(
        TUNER
        + """
def solve(x):
    packed, y = torch.empty_like(x), torch.empty_like(x)
    launch(x, packed, 64)
    launch(packed, y, 128)
    do_bench(lambda: launch(packed, y, 32))
    return y
"""
    )
    assert [step.grid[0] for step in case.steps if isinstance(step, Launch)] == [2, 1]
