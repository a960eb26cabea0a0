"""Marks on the lines of a source, as workflow commands of GitHub Actions."""

from kerneljudge.payloads import Submission


def annotations(submission: Submission, file: str, shortfalls: list[str]) -> list[str]:
    """One `::error` for each place that is wrong, or for the file where no line is known."""
    if submission.passed:
        return [_error(file, None, "too slow", text) for text in shortfalls]
    title = submission.verdict or ""
    places = () if submission.report is None else submission.report.diagnostics
    found = []
    for place in places:
        text = f"{place.message}\n{place.remedy}" if place.remedy else place.message
        found.append(_error(file, place.line, title, text))
    return found or [_error(file, None, title, submission.reason)]


def _error(file: str, line: int | None, title: str, text: str) -> str:
    fields = [f"file={_property(file)}", f"title={_property('kerneljudge: ' + title)}"]
    if line is not None:
        fields.insert(1, f"line={line}")
    return f"::error {','.join(fields)}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
