"""What Nsight Compute wrote on an H200 becomes profiles, and profiles become sentences."""

from pathlib import Path

import pytest

from kernels.contract.inspection import KernelProfile, Stall
from workers.inspection import counters
from workers.inspection.findings import findings
from workers.inspection.profile import Profiled, read

DATA = Path(__file__).parents[1] / "data" / "inspection"
FUSED = ("short_rows", "single_precision", "hidden_4096")


def recorded(name: str, *cases: str) -> Profiled:
    output = (DATA / f"{name}.profile.txt").read_text()
    return read(output, (DATA / f"{name}.profile.csv").read_text(), cases)


def test_each_launch_has_its_case_and_its_counters() -> None:
    seen = recorded("fused", *FUSED)
    assert [profile.case for profile in seen.profiles] == list(FUSED)
    short, single, _ = seen.profiles
    assert short.kernel == "whole_row"
    assert short.microseconds == pytest.approx(31.2)
    assert short.memory == pytest.approx(0.7315)
    assert (short.load_sectors, short.load_use) == (16, 1)
    assert short.bank_conflicts == pytest.approx(0.028, abs=0.001)
    assert single.occupancy_limit == pytest.approx(0.625)
    assert single.limited_by == ("registers",)
    assert 0.5 < (single.occupancy or 0) < 0.625
    assert short.stalls[0].reason == "long_scoreboard"
    assert sum(stall.share for stall in short.stalls) == pytest.approx(1, abs=0.05)


def test_a_matrix_product_shows_its_tensor_cores_and_what_holds_it() -> None:
    seen = recorded("tile", "square_4096", "square_8192")
    first = seen.profiles[0]
    assert first.tensor == pytest.approx(0.346, abs=0.001)
    assert first.load_use is None, "its loads are asynchronous copies"
    assert any("use each byte more often" in sentence for sentence in first.findings)


def test_every_counter_that_is_asked_for_was_there() -> None:
    lines = (DATA / "fused.profile.csv").read_text().splitlines()
    header = next(line for line in lines if line.startswith('"ID"'))
    assert [name for name in counters.METRICS if f'"{name}"' not in header] == []


def test_launches_that_were_not_announced_are_not_told_apart() -> None:
    output = (DATA / "fused.profile.txt").read_text().replace("whole_row", "another")
    seen = read(output, (DATA / "fused.profile.csv").read_text(), FUSED)
    assert seen.profiles == ()


def test_what_the_driver_does_not_permit_has_a_remedy() -> None:
    said = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access counters"
    assert "NVreg_RestrictProfilingToAdminUsers=0" in read(said, "", ()).refusal
    assert recorded("fused", *FUSED).refusal == ""


@pytest.mark.parametrize("table", ["", '"', '"Kernel Name"\n', '"Kernel Name","x"\n"",""\n"k"\n'])
def test_a_table_that_is_none_has_no_profiles(table: str) -> None:
    assert read("kerneljudge: case c\nkerneljudge: launch k\n", table, ("c",)).profiles == ()


def test_counters_that_are_no_numbers_are_left_out() -> None:
    head = f'"Kernel Name","{counters.WAVES}","{counters.SHARES["memory"]}"'
    table = f'{head}\n"","",""\n"k","n/a","nan"\n'
    [profile] = read("kerneljudge: case c\nkerneljudge: launch k\n", table, ("c",)).profiles
    assert (profile.waves, profile.memory, profile.findings) == (None, None, ())


def profile(**counted: object) -> KernelProfile:
    return KernelProfile.model_validate({"case": "c", "kernel": "k"} | counted)


@pytest.mark.parametrize(
    ("counted", "words"),
    [
        ({"memory": 0.92, "compute": 0.3}, "move fewer bytes"),
        ({"memory": 0.92, "compute": 0.3, "dram": 0.9}, "move fewer bytes"),
        ({"memory": 0.87, "compute": 0.3, "dram": 0.1}, "device memory is 10% busy"),
        ({"memory": 0.4, "compute": 0.9}, "compute less"),
        ({"memory": 0.2, "compute": 0.1}, "does not fill the GPU"),
        ({"waves": 0.25}, "fills 25% of the GPU's block slots"),
        ({"waves": 2.1}, "the last is mostly empty"),
        ({"load_use": 0.125}, "loads have fetched 12% are used"),
        ({"store_use": 0.25}, "stores have written 25% are used"),
        ({"bank_conflicts": 0.5}, "50% of its shared-memory accesses"),
        (
            {"occupancy": 0.1, "occupancy_limit": 0.125, "limited_by": ("registers",)},
            "limited by reg",
        ),
        ({"occupancy": 0.2, "occupancy_limit": 1.0}, "blocks end unevenly"),
        ({"special": 0.9}, "special-function unit is 90% busy"),
        ({"stalls": (Stall(reason="barrier", share=0.5),)}, "wait for each other at barriers"),
    ],
)
def test_a_counter_that_leaves_no_doubt_is_said(counted: dict[str, object], words: str) -> None:
    [sentence] = findings(profile(**counted))
    assert words in sentence


def test_a_grid_that_is_too_small_is_not_called_uneven() -> None:
    few = profile(waves=0.12, occupancy=0.06, occupancy_limit=0.5)
    assert [sentence[:14] for sentence in findings(few)] == ["The grid fills"]


def test_waiting_for_memory_is_no_finding_where_memory_is_busy() -> None:
    waits = (Stall(reason="long_scoreboard", share=0.6),)
    assert findings(profile(memory=0.75, compute=0.3, stalls=waits)) == ()
    assert len(findings(profile(memory=0.65, compute=0.3, stalls=waits))) == 1


def test_working_warps_do_not_wait() -> None:
    assert findings(profile(stalls=(Stall(reason="selected", share=0.9),))) == ()
