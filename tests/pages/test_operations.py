"""The page of those who look after the judge, and its twins in the API."""

import time

import httpx

from tests.app.judging import beat
from tests.pages import rerunning, samples
from tests.pages.site import Site


def press(site: Site, what: str, host: str) -> httpx.Response:
    return site.http.post(f"/admin/judge/{what}", data={"host": host})


def hosts(site: Site) -> dict[str, bool]:
    return {known["host"]: known["drained"] for known in site.http.get("/api/v1/hosts").json()}


def test_a_host_is_drained_and_resumed(site: Site) -> None:
    beat(site.queue, name="b", host="gpu-<1>", jail="complete")
    while "gpu-<1>" not in hosts(site):  # heartbeats are read once a second
        time.sleep(0.05)
    page = site.html("/admin/judge")
    assert 'aria-label="Drain gpu-&lt;1&gt;"' in page
    assert "complete" in page
    assert press(site, "drain", "gpu-<1>").status_code == 303
    assert site.queue.get("drain:gpu-<1>") == b"local"
    assert hosts(site)["gpu-<1>"]
    assert 'aria-label="Resume gpu-&lt;1&gt;"' in site.html("/admin/judge")
    assert site.http.delete("/api/v1/hosts/gpu-<1>/drain").status_code == 204
    assert not hosts(site)["gpu-<1>"]
    assert site.http.put("/api/v1/hosts/gpu-<1>/drain").status_code == 204
    assert press(site, "resume", "gpu-<1>").status_code == 303
    assert site.queue.get("drain:gpu-<1>") is None
    assert press(site, "drain", "nowhere").status_code == 404


def test_what_is_held_comes_with_its_evidence(site: Site) -> None:
    rerunning.offer(site)
    submission = rerunning.accepted(site)
    assert "Nothing is held." in site.html("/admin/judge")
    wrong = samples.wrong(submission).model_copy(update={"rebuilt": None})
    voice, given = rerunning.measurer_of(site, rerunning.ask(site, submission, "remeasure"))
    voice.sitting(given.turns[0], wrong)
    voice.end()
    assert rerunning.wait(site, given.id)["state"] == "done"
    implausible = samples.accepted(site.submit()).model_copy(
        update={"verdict": "implausible", "reason": "Faster than the hardware."}
    )
    site.finish(type(implausible).model_validate_json(implausible.model_dump_json(warnings=False)))
    first, second = site.http.get("/api/v1/held").json()
    assert (first["submission"], first["evidence"][0]["verdict"]) == (submission, "wrong_answer")
    assert "wrong_answer" in first["reason"]
    assert second["evidence"][0]["reason"] == "Faster than the hardware."
    page = site.html("/admin/judge")
    assert f'href="/submissions/{submission}#again"' in page
    assert "Faster than the hardware." in page
