"""A report as JUnit XML, which CI systems show as tests."""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kerneljudge.payloads import CaseResult, Report, Submission

_GOOD = ("accepted", "checked")


def junit(submission: Submission, address: str, shortfalls: list[str]) -> str:
    """One suite: a test for each case, and one for each condition that was not met."""
    assert submission.report is not None
    suite = Element("testsuite", name=f"kerneljudge.{submission.task}")
    properties = SubElement(suite, "properties")
    for name, value in _properties(submission, address):
        SubElement(properties, "property", name=name, value=value)
    for case in submission.report.cases:
        _case(suite, submission.task, case)
    if not submission.passed and not any(c.verdict not in _GOOD for c in submission.report.cases):
        _failure(suite, submission.task, "submission", submission.verdict or "", _why(submission))
    for shortfall in shortfalls:
        _failure(suite, submission.task, "conditions", "too slow", shortfall)
    tests = suite.findall("testcase")
    suite.set("tests", str(len(tests)))
    suite.set("failures", str(sum(test.find("failure") is not None for test in tests)))
    suite.set("errors", "0")
    indent(suite)
    return tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: Element, task: str, case: CaseResult) -> None:
    if case.verdict not in _GOOD:
        _failure(suite, task, case.case, case.verdict, case.reason)
        return
    seconds = case.timing.microseconds / 1e6 if case.timing else 0.0
    SubElement(suite, "testcase", classname=task, name=case.case, time=f"{seconds:.9f}")


def _failure(suite: Element, task: str, name: str, kind: str, message: str) -> None:
    test = SubElement(suite, "testcase", classname=task, name=name, time="0")
    SubElement(test, "failure", type=kind, message=message)


def _properties(submission: Submission, address: str) -> list[tuple[str, str]]:
    found = [
        ("submission", f"{address}/submissions/{submission.id}"),
        ("verdict", submission.verdict or ""),
        ("device", submission.device),
    ]
    if submission.score is not None:
        found.append(("score_microseconds", f"{submission.score:.4f}"))
    return found


def _why(submission: Submission) -> str:
    report: Report | None = submission.report
    places = [] if report is None else report.diagnostics
    lines = [f"line {d.line}: {d.message}" if d.line else d.message for d in places]
    return "\n".join([submission.reason, *lines])
