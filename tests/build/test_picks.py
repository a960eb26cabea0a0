"""Host code that asks an autotuner which configuration it took."""

import pytest

from kernels.contract import CasePlan, Choice, Launch
from tests.build.builds import plan_of
from workers.build.merging import link

SPLIT = """
@triton.autotune([triton.Config({"SPLIT": n, "BLOCK": 64}) for n in (1, 2, 4)], key=["count"],
                 reset_to_zero=["part_ptr"])
@triton.jit
def parts(x_ptr, part_ptr, count, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x_ptr + offsets, mask=offsets < count) / SPLIT
    tl.store(part_ptr + tl.program_id(1) * count + offsets, value, mask=offsets < count)

@triton.jit
def joined(part_ptr, y_ptr, count, SPLIT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for part in range(SPLIT):
        total += tl.load(part_ptr + part * count + offsets, mask=offsets < count)
    tl.store(y_ptr + offsets, total, mask=offsets < count)

def split(x, part):
    parts[lambda meta: (2, meta["SPLIT"])](x, part, 100)

def join(part, y, n):
    for _ in range(n):
        joined[(2,)](part, y, 100, SPLIT=n, BLOCK=64)
"""


def shape(choice: Choice) -> list[list[tuple[int, int]]]:
    """Grids of all launches, by alternative."""
    return [[s.grid[:2] for s in a.steps if isinstance(s, Launch)] for a in choice.alternatives]


def kinds(case: CasePlan) -> list[str]:
    return [step.kind for step in case.steps]


def launches_of_the_choice(case: CasePlan) -> list[int]:
    """How many launches each alternative has, of a case that is one operation and one choice."""
    assert kinds(case) == ["op", "choice"]
    choice = case.steps[1]
    assert isinstance(choice, Choice)
    return [len(launches) for launches in shape(choice)]


def test_what_follows_from_a_configuration_is_part_of_its_alternative() -> None:
    case = plan_of(
        SPLIT
        + """
def solve(x):
    part, y = x.new_zeros(4, 100), torch.empty_like(x)
    split(x, part)
    join(part, y, parts.best_config.kwargs["SPLIT"])
    return run(y, torch.empty_like(y))
"""
    )
    assert kinds(case) == ["op", "choice", "launch"]
    choice = case.steps[1]
    assert isinstance(choice, Choice)
    assert choice.function == "parts"
    assert shape(choice) == [
        [(2, 1), (2, 1)],
        [(2, 2), (2, 1), (2, 1)],
        [(2, 4), *[(2, 1)] * 4],
    ]
    assert "SPLIT: 4" in choice.alternatives[2].config
    assert len(choice.reset) == 1
    assert choice.restore == ()
    assert case.notes == ()


def test_several_tuners_may_be_asked_where_nothing_follows_from_them() -> None:
    case = plan_of(
        SPLIT
        + """
other = triton.autotune([triton.Config({"SPLIT": n, "BLOCK": 64}) for n in (2, 1)], [])(parts.fn)

def solve(x):
    part, y = x.new_zeros(4, 100), torch.empty_like(x)
    split(x, part)
    other[lambda meta: (2, meta["SPLIT"])](x, part, 100)
    print(parts.best_config, other.best_config)
    join(part, y, parts.best_config.kwargs["SPLIT"])
    return y
"""
    )
    # The second is part of what lies between the first and what follows from that.
    assert launches_of_the_choice(case) == [3, 4, 6]


def test_a_second_tuner_that_is_only_printed_stays_open() -> None:
    case = plan_of(
        SPLIT
        + """
other = triton.autotune([triton.Config({"SPLIT": n, "BLOCK": 64}) for n in (2, 1)], [])(parts.fn)

def solve(x):
    part, y = x.new_zeros(4, 100), torch.empty_like(x)
    split(x, part)
    other[lambda meta: (2, meta["SPLIT"])](x, part, 100)
    print(parts.best_config, other.best_config)
    return run(part[0], y)
"""
    )
    assert kinds(case) == ["op", "choice", "choice", "launch"]
    assert case.notes == ()


def test_a_configuration_that_is_only_printed_leaves_the_choice_alone() -> None:
    body = (
        SPLIT
        + """
def solve(x):
    part, y = x.new_zeros(4, 100), torch.empty_like(x)
    split(x, part)
    SHOW(parts.best_config)
    split(x, part)
    return run(part[0], y)
"""
    )
    case = plan_of(body.replace("SHOW", "print"))
    assert kinds(case) == ["op", "choice", "choice", "launch"]
    assert case == plan_of(body.replace("SHOW", "str"))


@pytest.mark.parametrize(
    ("launch", "asked"),
    [
        ("parts[GRID](x, part, 100)", "parts.cache[100, 'torch.float32', 'torch.float32']"),
        ("parts[GRID](x, part, 100)", "next(iter(parts.cache.values()))"),
        ("kernel = parts[GRID](x, part, 100)", "SPLITS[kernel.hash]"),
        ("parts[kept](x, part, 100)", "seen[-1]"),
        (
            "parts[lambda m: at.__setitem__(0, m['SPLIT']) or GRID(m)](x, part, 100)",
            "triton.Config(dict(SPLIT=at[0]))",
        ),
        (
            "parts[GRID](x, part, 100)",
            "min(parts.configs_timings, key=lambda c: parts.configs_timings[c])",
        ),
    ],
)
def test_whatever_tells_host_code_the_configuration_is_followed(launch: str, asked: str) -> None:
    case = plan_of(
        SPLIT
        + f"""
GRID = lambda meta: (2, meta["SPLIT"])

def solve(x):
    part, y, seen, at = x.new_zeros(4, 100), torch.empty_like(x), [], {{}}

    def kept(meta):
        seen.append(triton.Config(dict(SPLIT=meta["SPLIT"])))
        return GRID(meta)

    SPLITS = {{}}
    for config in parts.configs:
        hash = parts.fn.warmup(x, part, 100, grid=(1,), **config.kwargs).hash
        SPLITS[hash] = config
    {launch}
    join(part, y, ({asked}).kwargs["SPLIT"])
    return y
"""
    )
    assert kinds(case) == ["op", "choice"]
    choice = case.steps[1]
    assert isinstance(choice, Choice)
    assert shape(choice) == [
        [(2, 1), (2, 1)],
        [(2, 2), (2, 1), (2, 1)],
        [(2, 4), *[(2, 1)] * 4],
    ]


@pytest.mark.parametrize(
    ("keeping", "asked"),
    [
        ("for c in parts.configs: c.pre_hook = Hook()", "parts.configs[0].pre_hook.__class__.last"),
        ("parts.fn.add_pre_run_hook(lambda *a, **k: globals().update(LAST=k['SPLIT']))", "LAST"),
        ("parts.fn = triton.heuristics({'BLOCK': block})(parts.fn)", "HELD[-1]"),
    ],
)
def test_what_hooks_and_heuristics_keep_is_followed(keeping: str, asked: str) -> None:
    case = plan_of(
        SPLIT.replace(', "BLOCK": 64}', "}" if "heuristics" in keeping else ', "BLOCK": 64}')
        + f"""
HELD, LAST = [], 0

class Hook:
    last = 0
    def __call__(self, nargs):
        Hook.last = nargs["SPLIT"]

def block(args):
    HELD.append(args["SPLIT"])
    return 64

{keeping}

def solve(x):
    part, y = x.new_zeros(4, 100), torch.empty_like(x)
    split(x, part)
    join(part, y, {asked})
    return y
"""
    )
    assert launches_of_the_choice(case) == [2, 3, 5]


def test_a_hook_that_keeps_nothing_leaves_the_choice_alone() -> None:
    case = plan_of(
        SPLIT
        + """
for config in parts.configs:
    config.pre_hook = lambda nargs: nargs["part_ptr"].zero_()

def solve(x):
    part, y = x.new_zeros(4, 100), torch.empty_like(x)
    triton.testing.do_bench(lambda: run(x, y))  # so that nothing else can be followed
    parts[lambda meta: (2, meta["SPLIT"], len(part) // 4)](x, part, 100)
    return run(part[0], y)
"""
    )
    assert kinds(case) == ["op", "choice", "launch"]


def test_hooks_of_a_tuner_are_called_as_triton_does_when_it_tunes() -> None:
    case = plan_of(
        SPLIT
        + """
CALLS = []

def before(nargs, reset_only=False):
    CALLS.append(("before", reset_only))
    nargs["part_ptr"].fill_(1.0)

def after(nargs, exception):
    CALLS.append(("after", exception))
    nargs["part_ptr"].fill_(2.0)

hooked = triton.autotune(parts.configs, ["count"], pre_hook=before, post_hook=after)(parts.fn)

def solve(x):
    part, y = x.new_zeros(4, 100), torch.empty_like(x)
    hooked[lambda meta: (2, meta["SPLIT"])](x, part, 100)
    assert CALLS == [("before", False), ("after", None)] * 3 + [("before", True)]
    hooked[lambda meta: (2, meta["SPLIT"])](x, part, 100)
    assert len(CALLS) == 7
    return run(part[0], y)
"""
    )
    # The zeros, what the hook does before the launch that counts, and twice the launch itself.
    assert kinds(case) == ["op", "op", "choice", "choice", "launch"]
    choice = case.steps[2]
    assert isinstance(choice, Choice)
    assert [view.shape for view in choice.restore] == [(1600,)]


def test_a_graph_may_hold_a_choice() -> None:
    case = plan_of(
        SPLIT
        + """
def solve(x):
    part, y, graph = x.new_zeros(4, 100), torch.empty_like(x), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        split(x, part)
        join(part, y, 1)
    graph.replay()
    return y
"""
    )
    assert kinds(case) == ["op", "choice", "launch"]


def test_what_was_tuned_need_be_no_part_of_the_case() -> None:
    case = plan_of(
        SPLIT
        + """
X, PART = torch.empty(100, device="cuda"), torch.empty(4, 100, device="cuda")
split(X, PART)

def solve(x):
    y = torch.empty_like(x)
    copy[(parts.best_config.kwargs["SPLIT"],)](x, y, 100, BLOCK=128)
    return y
"""
    )
    (choice,) = case.steps
    assert isinstance(choice, Choice)
    assert shape(choice) == [[(1, 1)], [(2, 1)], [(4, 1)]]


def test_where_all_outcomes_are_too_much_for_a_plan_the_first_stands() -> None:
    base = plan_of(
        SPLIT
        + """
def solve(x):
    part, y = x.new_zeros(4, 100), torch.empty_like(x)
    split(x, part)
    return run(x, y)
"""
    )
    fill, choice, last = base.steps
    assert isinstance(choice, Choice)
    assert isinstance(last, Launch)

    many = choice.model_copy(update={"alternatives": choice.alternatives * 2})

    def ending(grid: int) -> CasePlan:
        lasts = (last.model_copy(update={"grid": (grid, 1, 1)}),) * 1990
        return base.model_copy(update={"steps": (fill, many, *lasts)})

    linked = link(ending(2), choice.id, [ending(grid) for grid in range(3, 8)])
    assert linked.steps == (fill, *choice.alternatives[0].steps, *ending(2).steps[2:])


def test_later_launches_of_the_same_tuner_go_with_it() -> None:
    case = plan_of(
        SPLIT
        + """
def solve(x):
    part, y = x.new_zeros(4, 100), torch.empty_like(x)
    split(x, part)
    n = parts.best_config.kwargs["SPLIT"]
    split(x, part)
    join(part, y, n)
    return y
"""
    )
    (choice,) = (step for step in case.steps if isinstance(step, Choice))
    assert shape(choice)[2] == [(2, 4), (2, 4), *[(2, 1)] * 4]


def test_a_configuration_with_which_host_code_fails_is_dropped() -> None:
    case = plan_of(
        SPLIT
        + """
def solve(x):
    part, y = x.new_zeros(4, 100), torch.empty_like(x)
    split(x, part)
    assert parts.best_config.kwargs["SPLIT"] != 2
    return run(part[0], y)
"""
    )
    (choice,) = (step for step in case.steps if isinstance(step, Choice))
    assert shape(choice) == [[(2, 1)], [(2, 4)]]
    (dropped,) = choice.dropped
    assert "SPLIT: 2" in dropped.config
    assert dropped.reason == "host code could not go on with it"


@pytest.mark.parametrize(
    "before",
    [
        "triton.testing.do_bench(lambda: run(x, y))",
        "split(y, part); parts.best_config; other[lambda meta: (2, meta['SPLIT'])](x, part, 100)",
    ],
)
def test_where_it_cannot_be_followed_the_first_configuration_stands(before: str) -> None:
    case = plan_of(
        SPLIT
        + f"""
other = triton.autotune([triton.Config({{"SPLIT": n, "BLOCK": 64}}) for n in (2, 1)], [])(parts.fn)

def solve(x):
    part, y = x.new_zeros(4, 100), torch.empty_like(x)
    {before}
    tuner = other if "other" in {before!r} else parts
    split(x, part)
    tuner[lambda meta: (2, meta["SPLIT"])](x, part, 100)
    join(part, y, tuner.best_config.kwargs["SPLIT"])
    tuner[lambda meta: (2, meta["SPLIT"])](x, part, 100)
    return y
"""
    )
    assert kinds(case)[-2:] == ["launch", "launch"]
    assert any("host code asked for the configuration; the first stands" in n for n in case.notes)


def test_a_tuner_that_has_not_run_has_no_configuration() -> None:
    plan_of(
        SPLIT
        + """
def solve(x):
    assert not hasattr(parts, "best_config")
    parts.best_config = "my own"
    assert parts.best_config == "my own"
    return run(x, torch.empty_like(x))
"""
    )
