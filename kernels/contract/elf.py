"""Reads the sections of a hostile 64-bit ELF file; every access is bounded."""

import struct
from dataclasses import dataclass

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SECTIONS = 4_096
_SYMBOLS = 65_536
_NAME_BYTES = 1_024
NOBITS = 8
SYMBOL_TABLE, _DYNAMIC_SYMBOLS = 2, 11


class ElfRefused(ValueError):
    """Bytes are no ELF file that can be read; the message says why."""


@dataclass(frozen=True)
class Section:
    """One section; `data` is empty where it takes no place in the file."""

    name: str
    type: int
    size: int
    link: int
    data: bytes


@dataclass(frozen=True)
class Symbol:
    """One entry of the symbol table."""

    name: str
    info: int
    other: int
    section: int
    """Index of the section that it is defined in; 0 if whoever loads the file provides it."""


@dataclass(frozen=True)
class Elf:
    """Header fields and sections of a file."""

    machine: int
    abi_version: int
    flags: int
    sections: tuple[Section, ...]

    def section(self, name: str) -> Section | None:
        """The section of that name."""
        return next((section for section in self.sections if section.name == name), None)

    def symbols(self) -> list[Symbol]:
        """All symbols; ElfRefused unless there is one table and it is sound."""
        tables = [s for s in self.sections if s.type in (SYMBOL_TABLE, _DYNAMIC_SYMBOLS)]
        if [(table.type, table.name) for table in tables] != [(SYMBOL_TABLE, ".symtab")]:
            raise ElfRefused("it has not exactly one symbol table")
        (table,) = tables
        if table.size % _SYMBOL.size or table.size // _SYMBOL.size > _SYMBOLS:
            raise ElfRefused("its symbol table is broken")
        if not 0 < table.link < len(self.sections):
            raise ElfRefused("its symbols have no names")
        names = self.sections[table.link].data
        symbols = [
            Symbol(_name(names, name), info, other, section)
            for name, info, other, section, _, _ in _SYMBOL.iter_unpack(table.data)
        ]
        if any(symbol.section >= len(self.sections) for symbol in symbols):
            raise ElfRefused("a symbol lies in no section of it")
        return symbols


def read(data: bytes) -> Elf:
    """The sections of a file; ElfRefused for anything else than a complete one."""
    if len(data) < _HEADER.size or data[:6] != b"\x7fELF\x02\x01":
        raise ElfRefused("it is no 64-bit ELF file")
    header = _HEADER.unpack_from(data)
    start, flags = header[6], header[7]
    entry_size, count, names_index = header[11], header[12], header[13]
    if entry_size != _SECTION.size or not 0 < count <= _SECTIONS or names_index >= count:
        raise ElfRefused("its section table is broken")
    if start + count * _SECTION.size > len(data):
        raise ElfRefused("its section table is cut short")
    raw = [_SECTION.unpack_from(data, start + i * _SECTION.size) for i in range(count)]
    if sum(fields[5] for fields in raw if fields[1] not in (0, NOBITS)) > len(data):
        raise ElfRefused("its sections overlap")
    contents = [_content(data, fields) for fields in raw]
    sections = tuple(
        Section(_name(contents[names_index], fields[0]), fields[1], fields[5], fields[6], content)
        for fields, content in zip(raw, contents, strict=True)
    )
    if len({section.name for section in sections}) < count:
        raise ElfRefused("two of its sections have the same name")
    return Elf(machine=header[2], abi_version=data[8], flags=flags, sections=sections)


def _content(data: bytes, fields: tuple[int, ...]) -> bytes:
    kind, offset, size = fields[1], fields[4], fields[5]
    if kind in (0, NOBITS):
        return b""
    if offset + size > len(data):
        raise ElfRefused("a section lies outside the file")
    return data[offset : offset + size]


def _name(table: bytes, start: int) -> str:
    end = table.find(b"\0", start, start + _NAME_BYTES)
    if start > len(table) or end < 0:
        raise ElfRefused("a name in it is broken")
    return table[start:end].decode("latin-1")
