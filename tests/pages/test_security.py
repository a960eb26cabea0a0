import pytest
from starlette.requests import Request

from app.errors import WrongOrigin
from app.pages.security import require_same_origin


def _request(**headers: str) -> Request:
    raw = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": raw})


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "judge:8000", "sec_fetch_site": "same-origin"},
        {"host": "judge:8000", "sec_fetch_site": "none"},
        {"host": "judge:8000", "origin": "http://judge:8000"},
        {"host": "judge:8000"},
    ],
)
def test_forms_of_this_site_pass(headers: dict[str, str]) -> None:
    require_same_origin(_request(**headers))


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "judge:8000", "sec_fetch_site": "cross-site", "origin": "http://judge:8000"},
        {"host": "judge:8000", "sec_fetch_site": "same-site"},
        {"host": "judge:8000", "origin": "http://judge:9000"},
        {"host": "judge:8000", "origin": "http://evil.example"},
        {"host": "judge:8000", "origin": "null"},
        {"host": "judge:8000", "origin": ""},
    ],
)
def test_forms_of_other_sites_are_refused(headers: dict[str, str]) -> None:
    with pytest.raises(WrongOrigin, match="another site"):
        require_same_origin(_request(**headers))
