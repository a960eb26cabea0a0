"""A PostgreSQL that crashes under the running service, and comes back."""

from dataclasses import replace

import httpx

from kernels.catalog import Catalog
from kernels.contract import Submission
from tests.app.api.talking import post, speak
from tests.app.conftest import temporary_settings
from tests.app.judging import report
from tests.app.postgres import crashed, emptied, programs
from tests.app.serving import serving
from workers.events import Publisher


def test_a_database_that_crashes_loses_nothing_and_is_found_again(
    postgres_url: str, catalog: Catalog
) -> None:
    found = programs()
    assert found is not None
    with temporary_settings() as mine:
        settings = replace(mine, database_url=emptied(postgres_url))
        with (
            serving(settings, catalog) as address,
            httpx.Client(base_url=address, timeout=60) as client,
        ):
            names = [post(client).json()["id"] for _ in range(2)]
            with crashed(found, postgres_url):
                refused = post(client)
                assert (refused.status_code, "Retry-After" in refused.headers) == (503, True)
                assert client.get(f"/api/v1/submissions/{names[0]}").status_code == 503
                for name in names:
                    speak(settings, name, _judge)
            names.append(post(client).json()["id"])
            for name in names[:2]:
                body = client.get(f"/api/v1/submissions/{name}", params={"wait": 50}).json()
                assert (body["verdict"], body["attempt"]) == ("checked", 1)
            items = client.get("/api/v1/submissions").json()["items"]
            assert [item["id"] for item in items] == names[::-1]


def _judge(worker: Publisher, given: Submission) -> None:
    worker.stage("building", "compiling")
    worker.report(report(given))
