"""From what submitted code raised to the failure that its author reads."""

import textwrap
import traceback
from typing import Literal, Self

from pydantic import ValidationError
from triton.compiler.errors import CompilationError

from kernels.contract import Diagnostic, PlanRefused
from kernels.contract.wire import Failure
from workers.build.advice import remedy
from workers.build.compilation import NotCompiled
from workers.build.source import FILE, Source
from workers.facade import Refusal

_REASON_CHARACTERS = 400
_MESSAGE_CHARACTERS = 8_000
_DIAGNOSTICS = 16
Verdict = Literal["rejected", "build_error", "timeout"]


class BuildFailed(Exception):
    """A submission that cannot be built, in words for its author."""

    def __init__(
        self, verdict: Verdict, reason: str, remedy: str | None = None, line: int | None = None
    ) -> None:
        super().__init__(reason)
        diagnostic = Diagnostic(message=reason, line=line, remedy=remedy)
        self.failure = failure(verdict, reason, [diagnostic] if remedy or line else [])

    @property
    def line(self) -> int | None:
        """The first line of the submission that it names."""
        return next((d.line for d in self.failure.diagnostics if d.line is not None), None)

    def at(self, line: int | None) -> "BuildFailed":
        """The same, with a line."""
        first, *more = self.failure.diagnostics or [Diagnostic(message=self.failure.reason)]
        found = (first.model_copy(update={"line": line}), *more)
        return BuildFailed.of(self.failure.model_copy(update={"diagnostics": found}))

    @classmethod
    def of(cls, failure: Failure) -> Self:
        """One that carries a failure which is already in words."""
        error = cls("build_error", failure.reason)
        error.failure = failure
        return error


def failure(verdict: Verdict, reason: str, diagnostics: list[Diagnostic]) -> Failure:
    """A failure within the contract's bounds."""
    return Failure(
        verdict=verdict,
        reason=shortened(reason, _REASON_CHARACTERS),
        diagnostics=tuple(diagnostics[:_DIAGNOSTICS]),
    )


def problem(error: ValidationError) -> str:
    """The first rule of the contract that a value breaks, as the contract says it."""
    first = error.errors(include_url=False, include_input=False)[0]
    return first["msg"].removeprefix("Value error, ")


def of_exception(
    error: BaseException, source: Source, refusals: list[tuple[Refusal, int | None]]
) -> Failure:
    """What an exception that left submitted code means."""
    try:
        return _explained(error, source, refusals)
    except BaseException:  # noqa: BLE001  it is the submission's own object, whose methods may raise
        return failure("build_error", "the code raised an exception that cannot be shown", [])


def _explained(
    error: BaseException, source: Source, refusals: list[tuple[Refusal, int | None]]
) -> Failure:
    if isinstance(error, BuildFailed):
        return error.failure
    if isinstance(error, Refusal):
        return _of_refusal(error, source, refusals)
    if isinstance(error, NotCompiled):
        return _advised(error.verdict, str(error), error, source)
    if isinstance(error, PlanRefused):
        return _advised("rejected", str(error), error, source)
    if isinstance(error, ValidationError):
        return _advised("rejected", problem(error), error, source)
    if isinstance(error, CompilationError):
        return _of_compilation(error, source)
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return _of_python(error, error.lineno or None)
    # A refusal that the submission swallowed is often why it failed later.
    earlier = [_diagnostic(refusal, line) for refusal, line in refusals]
    return _of_python(error, source.line_of(error.__traceback__), earlier)


def _advised(verdict: Verdict, reason: str, error: BaseException, source: Source) -> Failure:
    line = source.line_of(error.__traceback__)
    return failure(verdict, reason, [Diagnostic(message=reason, line=line, remedy=remedy(reason))])


def _of_refusal(
    error: Refusal, source: Source, refusals: list[tuple[Refusal, int | None]]
) -> Failure:
    known = {id(refusal): line for refusal, line in refusals}
    line = known.get(id(error), source.line_of(error.__traceback__))
    others = [_diagnostic(r, at) for r, at in refusals if r is not error]
    return failure("rejected", error.reason, [_diagnostic(error, line), *others])


def _diagnostic(refusal: Refusal, line: int | None) -> Diagnostic:
    return Diagnostic(message=refusal.reason, line=line, remedy=refusal.remedy)


def _of_python(
    error: BaseException, line: int | None, earlier: list[Diagnostic] | None = None
) -> Failure:
    if isinstance(error, SystemExit):
        reason = f"the code ended the program with exit code {error.code!r}"
    else:
        reason = _last_line(error)
    message = shortened(_as_python_prints(error), _MESSAGE_CHARACTERS)
    first = Diagnostic(message=message, line=line, remedy=remedy(message))
    return failure("build_error", reason, [first, *(earlier or ())])


def _as_python_prints(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip()


def _last_line(error: BaseException) -> str:
    lines = _as_python_prints(error).splitlines()
    return lines[-1] if isinstance(error, SyntaxError) else lines[0]


def _of_compilation(error: CompilationError, source: Source) -> Failure:
    """Triton nests an error in one per inlined call; the innermost says what is wrong."""
    chain: list[CompilationError] = [error]
    while isinstance(chain[-1].__cause__, CompilationError) and len(chain) < _DIAGNOSTICS:
        chain.append(chain[-1].__cause__)
    diagnostics = [_compiler_diagnostic(link, source) for link in reversed(chain)]
    cause = chain[-1].error_message or str(chain[-1].__cause__ or "").strip()
    what = cause.strip().splitlines()[0] if cause.strip() else "Triton cannot compile the kernel"
    return failure("build_error", f"{type(chain[-1]).__name__}: {what}", diagnostics)


def _compiler_diagnostic(error: CompilationError, source: Source) -> Diagnostic:
    message = str(error)
    if error.error_message is None and error.__cause__ is not None:
        message = f"{message}\n{error.__cause__}"
    node_line = getattr(error.node, "lineno", None)
    first = _first_line(error.src, source.lines)
    line = None if node_line is None or first is None else first + node_line - 1
    if line is not None:
        message = message.replace(f"at {node_line}:", f"at {line}:", 1)
    message = shortened(message, _MESSAGE_CHARACTERS)
    return Diagnostic(message=message, line=line, remedy=remedy(message))


def _first_line(function: str | None, lines: list[str]) -> int | None:
    """Line of the submission at which a function's text starts, from 1."""
    wanted = (function or "").rstrip().split("\n")
    for start in range(len(lines) - len(wanted) + 1):
        if wanted[0].strip() and lines[start].strip() == wanted[0].strip():
            part = textwrap.dedent("".join(lines[start : start + len(wanted)]))
            if part.rstrip().split("\n") == wanted:
                return start + 1
    return None


def shortened(text: str, characters: int) -> str:
    """The text, with its middle left out if it is longer than that."""
    text = text.encode("utf-8", "replace").decode()
    if len(text) <= characters:
        return text
    half = (characters - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"
