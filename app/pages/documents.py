"""The documents under docs/, as pages at the same relative addresses."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.errors import NotFound
from app.pages import markdown
from app.pages.rendering import render

router = APIRouter()
_FOLDER = Path(__file__).parents[2] / "docs"
_SHELVES = {
    "Taking part": (
        "host-code",
        "verdicts",
        "metrics",
        "correctness",
        "timing",
        "ranking",
        "plans",
        "inspecting",
        "contests",
        "client",
        "api",
    ),
    "Running it": (
        "operating",
        "deploying",
        "accounts",
        "jail",
        "security",
        "tasks",
        "measured",
    ),
}
_LAST_SHELF = "How it is built"


@dataclass(frozen=True)
class Document:
    """One file under docs/."""

    name: str
    """Its path under docs/ without the ending."""
    title: str
    text: str
    """Markdown."""


@router.get("/docs")
def list_documents(request: Request) -> Response:
    """All documents, what a participant needs first."""
    return render(request, "documents.html", shelves=_shelves())


@router.get("/docs/{name:path}")
def show_document(request: Request, name: str) -> Response:
    """One document; links between the files of docs/ work here as well."""
    if name.endswith(".md"):
        return RedirectResponse(f"/docs/{name.removesuffix('.md')}", 308)
    document = documents().get(name)
    if document is None:
        raise NotFound(f"no document is called {name!r}", "Open /docs for the list of documents.")
    return render(request, "document.html", document=document)


@cache
def documents() -> dict[str, Document]:
    """All documents by name, as they were when first asked for."""
    read = (_read(path) for path in sorted(_FOLDER.rglob("*.md")))
    return {document.name: document for document in read}


def _shelves() -> dict[str, list[Document]]:
    """The documents as the list shows them; the last shelf has what no other one names."""
    rest = dict(documents())
    shelves = {
        heading: [rest.pop(name) for name in names if name in rest]
        for heading, names in _SHELVES.items()
    }
    return shelves | {_LAST_SHELF: list(rest.values())}


def _read(path: Path) -> Document:
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(_FOLDER).with_suffix("").as_posix()
    return Document(name, markdown.title(text) or name, text)
