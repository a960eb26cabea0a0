import html
import re

import pytest

from tests.pages import samples
from tests.pages.site import Site


def test_an_unfinished_submission_shows_its_stage_and_follows_it(site: Site) -> None:
    submission = site.submit()
    page = site.html(f"/submissions/{submission}")
    assert '<li class="now" aria-current="step">queued</li>' in page
    assert f'hx-sse:connect="/submissions/{submission}/live"' in page
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in page


def test_the_stages_are_those_that_a_checked_submission_goes_through(site: Site) -> None:
    submission = site.submit()
    site.enter(submission, "building", "checking 7 cases on the CPU interpreter")
    address = f"/submissions/{submission}"
    now = '<li class="now" aria-current="step">building and checking</li>'
    while now not in (page := site.html(address)):
        assert '<li class="now" aria-current="step">queued</li>' in page
    assert re.findall(r"<li[^>]*>(.*)</li>", page[page.index('"stages"') :])[:3] == [
        "queued",
        "building and checking",
        "finished",
    ]


def test_what_was_checked_can_be_compared_too(site: Site) -> None:
    first, second = (site.finish(samples.checked(site.submit())) for _ in range(2))
    assert '<form action="/compare"' in site.html(f"/submissions/{first}")
    assert "Sources" in site.html(f"/compare/{first}/{second}")


def test_an_unfinished_submission_says_how_long_it_takes_as_a_rule(site: Site) -> None:
    site.finish(samples.checked(site.submit()))
    address = f"/submissions/{site.submit()}"
    assert re.search(r"The latest like this one took [\d.]+ s from", site.html(address))
    assert site.http.get(address).headers["cache-control"] == "no-store"


def test_the_stream_brings_every_stage_then_the_report_then_ends(site: Site) -> None:
    submission = site.submit()
    titles: list[str] = []
    with site.http.stream("GET", f"/submissions/{submission}/live") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        for line in lines:
            found = re.search(r"<title>(\S+)", line)
            if found:
                titles.append(found[1])
                _go_on(site, submission, found[1])
            if line == "event: done":
                break
        assert [line for line in lines if line.startswith("data: <")] == []
    assert titles == ["Queued", "Building", "Measuring", "Checked"]


def _go_on(site: Site, submission: str, shown: str) -> None:
    """Do what a worker would do next, once the page shows what it did last."""
    match shown:
        case "Queued":
            site.enter(submission, "building", "building the plan")
        case "Building":
            site.enter(submission, "measuring", "timing")
        case "Measuring":
            site.finish(samples.checked(submission))


def test_the_stream_of_a_finished_submission_is_its_report(site: Site) -> None:
    submission = site.finish(samples.checked(site.submit()))
    text = site.http.get(f"/submissions/{submission}/live").text
    assert "data: <title>Checked" in text
    assert text.rstrip().endswith("event: done\ndata:")


def test_an_unknown_submission_is_not_found(site: Site) -> None:
    site.html("/submissions/nope", status=404)
    assert site.http.get("/submissions/nope/live").status_code == 404


def test_an_accepted_report_shows_what_was_measured(site: Site) -> None:
    page = site.html(f"/submissions/{site.finish(samples.accepted(site.submit()))}")
    for shown in (
        "All cases agree with the reference",
        "79.50 µs",
        "31.42",
        "31.36&ndash;31.51",
        "4,272",
        "89.0 %",
        "1.40 &times;",
        "2.1e-4",
        "96 B out, 96 B in",
        "BLOCK: 4096, num_warps: 8",
        "NVIDIA H200",
        "1 of 1",
        "75.0 %",
        "6 blocks of 8 warps; registers",
        "8 loads of 16 B, 2 local, 33 special",
        "It spills: use smaller blocks.",
        "Compiled again without submitted code: identical.",
        "built for an equal submission before",
    ):
        assert html.unescape(shown) in page
    assert "Cases that failed" not in page
    assert "hx-sse" not in page


def test_a_wrong_answer_shows_where_it_differs(site: Site) -> None:
    page = site.html(f"/submissions/{site.finish(samples.wrong(site.submit()))}")
    assert "1,320 of 4,560" in page
    assert "[0, 512] is nan, not 0.00131579" in page
    assert page.count('width="1" height="1"') == 6 * 11
    assert '<span class="over">0.71</span>' in page


def test_a_build_error_shows_the_line_beside_the_message(site: Site) -> None:
    page = site.html(f"/submissions/{site.finish(samples.broken(site.submit()))}")
    excerpt = page[page.index("What went wrong") : page.index("ValueError")]
    assert "values = tl.load(x + row * stride" in html.unescape(excerpt)
    assert 'href="#line-11"' in excerpt
    assert '<li id="line-11" class="marked">' in page
    assert "Make the pointer a block as well." in page


def test_caveats_and_log_are_shown_without_terminal_colours(site: Site) -> None:
    page = site.html(f"/submissions/{site.finish(samples.checked(site.submit()))}")
    assert "Races between programs cannot be seen" in page
    assert "compiling softmax_kernel\ndone\n" in page


def test_hostile_text_of_a_worker_comes_out_as_text(site: Site) -> None:
    page = site.html(f"/submissions/{site.finish(samples.hostile(site.submit(samples.HOSTILE)))}")
    assert page.count(html.escape('<script>alert("x")</script>', quote=False).split('"')[0]) >= 14
    assert "<script>" not in page
    assert "<img" not in page
    assert "onerror=alert(1)&gt;" in page
    assert not set("\x00\x1b\u202e") & set(page)
    assert "{{ 7*7 }}" in page


def test_a_source_of_very_many_lines_is_shown_without_numbers(site: Site) -> None:
    submission = site.submit("#\n" * 20_000)
    page = site.html(f"/submissions/{site.finish(samples.checked(submission))}")
    assert 'id="line-1"' not in page
    assert "#\n#\n#" in page


def test_the_list_is_filtered_by_its_address(site: Site) -> None:
    wrong = site.finish(samples.wrong(site.submit()))
    checked = site.finish(samples.checked(site.submit()))
    page = site.html("/submissions?task=softmax&device=&verdict=wrong_answer&stage=")
    assert f'href="/submissions/{wrong}"' in page
    assert f'href="/submissions/{checked}"' not in page
    assert '<option value="wrong_answer" selected>' in page
    assert "No submission matches" in site.html("/submissions?task=matmul")


@pytest.mark.parametrize("query", ["verdict=good", "task=../x", "cursor=-1", "cursor=x"])
def test_a_filter_that_makes_no_sense_is_refused(site: Site, query: str) -> None:
    site.html(f"/submissions?{query}", status=422)


def test_older_submissions_keep_the_filter(site: Site) -> None:
    for _ in range(51):
        site.submit()
    page = site.html("/submissions?task=softmax")
    older = re.search(r'rel="next" href="([^"]+)"', page)
    assert older is not None
    second = site.html("/submissions" + html.unescape(older[1]))
    assert '<option value="softmax" selected>' in second
    assert not set(re.findall(r"/submissions/\w+", page)) & set(
        re.findall(r"/submissions/\w+", second)
    )


def test_a_report_shows_both_limits_and_what_the_gpu_was_held_for(site: Site) -> None:
    submission = site.submit()
    site.finish(samples.accepted(submission))
    page = site.html(f"/submissions/{submission}")
    assert "datasheet says 4.80 TB/s and 989 TFLOP/s in 16 bits" in page
    assert "This GPU reached 4.27 TB/s and 722 TFLOP/s at 1,545 MHz (power cap)" in page
    assert "100 % of reached" in page
    assert "1.32 s: load 0.31, correctness 0.52, choices 0, timing 0.40, overhead 0.09" in page


def test_a_report_without_ceilings_names_only_the_datasheet(site: Site) -> None:
    submission = site.submit()
    report = samples.accepted(submission)
    site.finish(report.model_copy(update={"ceilings": None, "gpu": None}))
    page = site.html(f"/submissions/{submission}")
    assert "datasheet says" in page
    assert "This GPU reached" not in page
    assert "GPU held" not in page
