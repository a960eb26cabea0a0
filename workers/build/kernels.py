"""Compiled kernels of a build: their facts, cubins and texts, kept by content in the scratch."""

import hashlib
import os
import re
import threading
import zlib
from pathlib import Path
from typing import Any, Literal

from triton.runtime.cache import get_cache_manager

from kernels.contract import Kernel, Resources, cubin, limits
from kernels.contract.cubin import CubinFacts
from workers.build import ptxas
from workers.facade import Refusal

_TEXTS: tuple[Literal["ttir", "ttgir", "ptx"], ...] = ("ttir", "ttgir", "ptx")
_COMPRESSION = 1
"""Level 6 takes five times as long for a fifth less; the texts are read rarely."""


class BlobStore:
    """Files named by the digest of their content; shared by all processes of a build."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, content: bytes) -> str:
        """Digest under which the content lies now."""
        digest = hashlib.sha256(content).hexdigest()
        path = self._folder / digest
        if not path.exists():
            write_whole(path, content)
        return digest

    def get(self, digest: str) -> bytes:
        """The content; FileNotFoundError for a digest that was never put."""
        return (self._folder / digest).read_bytes()


class KernelTable:
    """Every kernel that was launched, by the digest of its cubin."""

    def __init__(self, folder: Path, blobs: BlobStore) -> None:
        self._folder = folder
        self._blobs = blobs
        self._facts: dict[str, CubinFacts] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def facts(self, symbol: str, binary: bytes) -> CubinFacts:
        """What the cubin says of an entry point."""
        digest = hashlib.sha256(binary).hexdigest()
        if digest not in self._facts:
            self._facts[digest] = cubin.facts(binary, symbol)
        return self._facts[digest]

    def add(self, source: Any, metadata: Any, binary: bytes) -> str:
        """Digest of a kernel that is about to be launched."""
        digest = self._blobs.put(binary)
        path = self._folder / digest
        kernel = self._kernel(source, metadata, binary)
        if not path.exists():
            texts = {name: self._blobs.put(text) for name, text in _texts(source, metadata)}
            write_whole(path, kernel.model_copy(update={"texts": texts}).model_dump_json().encode())
        elif _launch_facts(self.get(digest)) != _launch_facts(kernel):
            raise Refusal(
                f"{kernel.function} compiles to the same code with different launch attributes",
                "launch it with one set of attributes",
            )
        return digest

    def get(self, digest: str) -> Kernel:
        """A kernel that was added."""
        return Kernel.model_validate_json((self._folder / digest).read_bytes())

    def all(self) -> dict[str, Kernel]:
        """Every kernel that was added."""
        return {path.name: self.get(path.name) for path in sorted(self._folder.iterdir())}

    def _kernel(self, source: Any, metadata: Any, binary: bytes) -> Kernel:
        found = self.facts(metadata.name, binary)
        stores, loads = ptxas.spills(metadata)
        return Kernel(
            symbol=metadata.name,
            function=function_name(source),
            warps=metadata.num_warps,
            stages=min(getattr(metadata, "num_stages", 0) or 0, 64),
            ctas=getattr(metadata, "num_ctas", 1),
            global_scratch_bytes=metadata.global_scratch_size,
            global_scratch_align=max(metadata.global_scratch_align, 1),
            cooperative=bool(getattr(metadata, "launch_cooperative_grid", False)),
            dependent=bool(getattr(metadata, "launch_pdl", False)),
            options=ptxas.options(metadata),
            resources=Resources(
                registers=found.registers,
                stack_bytes=found.stack_bytes,
                spill_store_bytes=stores,
                spill_load_bytes=loads,
                shared_bytes=metadata.shared,
                static_shared_bytes=found.static_shared_bytes,
            ),
        )


def function_name(source: Any) -> str:
    """Name of the Python function of a kernel, as an identifier."""
    function = getattr(source, "fn", None)
    name = getattr(function, "__name__", None) or source.name
    return re.sub(r"\W", "_", f"_{name}" if name[:1].isdigit() else name, flags=re.ASCII)[:128]


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that other processes and threads see all of it or nothing."""
    partial = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}")
    partial.write_bytes(content)
    partial.rename(path)


def _launch_facts(kernel: Kernel) -> tuple[object, ...]:
    return (
        kernel.symbol,
        kernel.warps,
        kernel.ctas,
        kernel.global_scratch_bytes,
        kernel.cooperative,
        kernel.dependent,
        kernel.resources.shared_bytes,
    )


def _texts(source: Any, metadata: Any) -> list[tuple[Literal["ttir", "ttgir", "ptx"], bytes]]:
    group = get_cache_manager(metadata.hash).get_group(f"{source.name[:150]}.json") or {}
    texts: list[tuple[Literal["ttir", "ttgir", "ptx"], bytes]] = []
    for kind in _TEXTS:
        path = group.get(f"{source.name[:150]}.{kind}")
        if path is None:
            continue
        text = Path(path).read_bytes()[: limits.TEXT_BYTES]
        texts.append((kind, zlib.compress(text, _COMPRESSION)))
    return texts
