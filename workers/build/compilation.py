"""Compiling: each kernel once among all processes of a build, in Triton's own cache."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import triton
import triton.compiler

from workers.build import versions
from workers.build.budget import Budget
from workers.build.claims import Claims, Verdict
from workers.build.kernels import function_name

_POLL_SECONDS = 0.004


class NotCompiled(Exception):
    """A kernel that was not compiled; a tuned one is dropped, of another the verdict follows."""

    def __init__(self, reason: str, verdict: Verdict = "timeout") -> None:
        super().__init__(reason)
        self.verdict = verdict


class ClaimedElsewhere(NotCompiled):
    """Another process is compiling the kernel, and nobody needs to wait for it yet."""


class Compiler:
    """Takes the place of triton.compile."""

    def __init__(self, claims: Claims, budget: Budget) -> None:
        self._claims = claims
        self._budget = budget
        """When it runs short, optional kernels are left out."""
        self._optional = False
        self._patient = True
        self._compile = triton.compiler.compile

    def install(self) -> None:
        """Replace triton.compile for the whole process."""
        triton.compiler.compile = self.compile
        triton.compile = self.compile

    @contextmanager
    def optional(self, patient: bool = True) -> Iterator[None]:
        """Kernels of the body may be left out; if not patient, those of others are not awaited."""
        before = self._optional, self._patient
        self._optional, self._patient = True, patient
        try:
            yield
        finally:
            self._optional, self._patient = before

    @property
    def late(self) -> bool:
        """Whether only what is needed should be compiled."""
        return self._budget.late

    def compile(self, src: Any, target: Any = None, options: Any = None, **more: Any) -> Any:
        """The compiled kernel; NotCompiled if it is barred, or optional and too late."""
        key = versions.cache_key(src, target, options)
        if key is None:
            return self._compile(src, target=target, options=options, **more)
        while not versions.is_cached(key, src):
            self._check(key)
            if self._claims.take(key, function_name(src)):
                try:
                    return self._compile(src, target=target, options=options, **more)
                finally:
                    self._claims.release(key)
            if not self._patient:
                raise ClaimedElsewhere(f"{function_name(src)} is being compiled")
            time.sleep(_POLL_SECONDS)
        return self._compile(src, target=target, options=options, **more)

    def _check(self, key: str) -> None:
        barred = self._claims.barred(key)
        if barred is not None:
            raise NotCompiled(barred[1], barred[0])
        if self._optional and self.late:
            raise NotCompiled("left out: the time for building ran short")
