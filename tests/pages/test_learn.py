"""The course and the page on the GPU."""

import pytest

from kernels.contract import DEVICES, DeviceName
from tests.pages import samples
from tests.pages.site import Site


def test_the_course_tells_facts_and_progress(site: Site) -> None:
    [track] = site.http.get("/api/v1/tracks").json()
    steps = [step for part in track["parts"] for step in part["steps"]]
    page = site.html("/learn")
    for step in steps:
        assert f'href="/tasks/{step["task"]}"' in page
    assert f"0 of {len(steps)} solved" in page
    assert "Start: A number added to a vector" in page
    submission = site.submit(task="constant_add")
    site.finish(samples.checked(submission).model_copy(update={"task": "constant_add"}))
    page = site.html("/learn")
    assert f"1 of {len(steps)} solved" in page
    assert "Go on: Sum of two vectors" in page


@pytest.mark.parametrize("name", DeviceName)
def test_the_gpu_has_the_numbers_of_the_roofline(site: Site, name: DeviceName) -> None:
    page, device = site.html(f"/learn/hopper?device={name.value}"), DEVICES[name]
    assert f"{device.l2_bytes >> 20}.0 MiB" in page
    assert f"{device.bandwidth / 1e12:.2f} TB/s" in page
    assert f"{device.nominal_peak['tensor16'] / device.bandwidth:.0f}" in page
    assert "No worker of this installation has measured" in page


def test_every_part_of_the_drawing_is_explained(site: Site) -> None:
    page = site.html("/learn/hopper")
    for target in {part.split('"')[0] for part in page.split('<a href="#')[1:]} - {"main"}:
        assert f'id="{target}"' in page


def test_what_bounds_a_kernel_is_worked_out(site: Site) -> None:
    page = site.html("/learn/hopper?device=H200&flops=9.89e11&bytes=4.8e8&rate=tensor16")
    assert "Memory needs 100.0 µs, arithmetic 1,000 µs" in page
    assert "<strong>arithmetic</strong>" in page
    page = site.html("/learn/hopper?device=H200&bytes=4.8e8")
    assert "<strong>memory</strong>" in page


@pytest.mark.parametrize("query", ["flops=many", "flops=-1", "bytes=nan", "flops=1&rate=abacus"])
def test_nonsense_is_refused(site: Site, query: str) -> None:
    site.html(f"/learn/hopper?{query}", status=422)


def test_no_other_gpu_is_shown(site: Site) -> None:
    site.html("/learn/hopper?device=B200", status=404)
