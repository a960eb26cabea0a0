import re

import pytest

from app.pages.assets import static
from tests.pages.site import Site


def test_what_pages_load_is_served_and_kept(site: Site) -> None:
    page = site.html("/tasks/softmax")
    addresses = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert len(addresses) == 5
    for address in addresses:
        response = site.http.get(address)
        assert response.status_code == 200
        assert "immutable" in response.headers["cache-control"]


def test_an_address_without_the_right_hash_is_not_kept(site: Site) -> None:
    for query in ("", "?v=0000"):
        response = site.http.get(f"/static/style.css{query}")
        assert response.status_code == 200
        assert response.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path", ["nope.css", "README.md", "package.json", "..%2ftemplates%2fbase.html", "%00", ""]
)
def test_nothing_else_is_served(site: Site, path: str) -> None:
    assert site.http.get(f"/static/{path}").status_code == 404


def test_a_file_that_is_not_there_has_no_address() -> None:
    with pytest.raises(KeyError):
        static("nope.js")
