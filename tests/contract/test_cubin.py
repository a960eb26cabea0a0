"""Cubins as hostile input: sound ones pass, anything else is refused and nothing else is raised."""

import hashlib
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.contract import Bundle, IntegerArgument, PlanRefused, PointerArgument, cubin, elf
from tests.build.builds import COPY, COPYING, built

BODY = """
def solve(x):
    return run(x, torch.empty_like(x))
"""
SECTION = struct.Struct("<IIQQQQIIQQ")


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    """A plan with one kernel and one launch."""
    return built(COPY + BODY, COPYING)


@pytest.fixture(scope="module")
def binary(bundle: Bundle) -> bytes:
    """The plan's cubin."""
    (digest,) = bundle.plan.kernels
    return bundle.blobs[digest]


def section_header(binary: bytes, name: str) -> int:
    """Where the header of a section lies."""
    start: int = struct.unpack_from("<Q", binary, 0x28)[0]
    sections = elf.read(binary).sections
    return start + [section.name for section in sections].index(name) * SECTION.size


def replaced(binary: bytes, place: int, value: bytes) -> bytes:
    """The cubin with other bytes at a place."""
    return binary[:place] + value + binary[place + len(value) :]


def with_cubin(bundle: Bundle, binary: bytes) -> Bundle:
    """The plan with another cubin in place of its own."""
    digest = hashlib.sha256(binary).hexdigest()
    (old,) = bundle.plan.kernels
    text = bundle.plan.model_dump_json().replace(old, digest)
    blobs = {key: blob for key, blob in bundle.blobs.items() if key != old}
    plan = type(bundle.plan).model_validate_json(text)
    return Bundle(plan=plan, blobs={**blobs, digest: binary})


def test_facts_of_a_compiled_kernel(binary: bytes) -> None:
    facts = cubin.facts(binary, "copy")
    assert facts.parameters == (8, 8, 4, 8, 8)
    assert 4 < facts.registers < 40
    assert (facts.stack_bytes, facts.static_shared_bytes) == (0, 0)


def test_a_built_plan_passes(bundle: Bundle) -> None:
    cubin.check(bundle)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (0, b"MZ", "no 64-bit ELF file"),
        (4, b"\x01", "no 64-bit ELF file"),
        (0x12, b"\x3e\x00", "not for sm_90a"),
        (0x30, b"\x50", "not for sm_90a"),
        (0x31, b"\x05", "not for sm_90a"),
        (0x28, b"\xff" * 8, "section table is cut short"),
        (0x3A, b"\x20", "section table is broken"),
        (0x3C, b"\xff\xff", "section table is broken"),
        (0x3E, b"\xff\xff", "section table is broken"),
    ],
)
def test_a_broken_header_is_refused(binary: bytes, place: int, value: bytes, message: str) -> None:
    with pytest.raises(PlanRefused, match=message):
        cubin.facts(replaced(binary, place, value), "copy")


def test_an_entry_that_is_not_there_is_refused(binary: bytes) -> None:
    with pytest.raises(PlanRefused, match="no code for other"):
        cubin.facts(binary, "other")


@pytest.mark.parametrize("name", [".nv.global", ".nv.global.var", ".bss", ".data.rel"])
def test_device_variables_are_refused(binary: bytes, name: str) -> None:
    header = section_header(binary, ".debug_line")
    names = SECTION.unpack_from(binary, section_header(binary, ".shstrtab"))
    renamed = replaced(binary, header, struct.pack("<I", names[5]))
    table = binary[names[4] : names[4] + names[5]] + name.encode() + b"\0"
    moved = replaced(
        renamed + table,
        section_header(binary, ".shstrtab") + 24,
        struct.pack("<QQ", len(renamed), len(table)),
    )
    with pytest.raises(PlanRefused, match="device variables, which would outlive a launch"):
        cubin.facts(moved, "copy")


def test_tables_of_libdevice_pass_but_not_much_more() -> None:
    body = """
from triton.language.extra import libdevice

@triton.jit
def sines(x_ptr, y_ptr):
    tl.store(y_ptr, libdevice.sin(tl.load(x_ptr)))

def solve(x):
    y = torch.empty_like(x)
    sines[(1,)](x, y)
    return y
"""
    with_tables = built(COPY + body, COPYING)
    cubin.check(with_tables)
    (digest,) = with_tables.plan.kernels
    blob = with_tables.blobs[digest]
    size = section_header(blob, ".nv.global.init") + 32
    assert struct.unpack_from("<Q", blob, size)[0] > 0
    with pytest.raises(PlanRefused, match="more than 4096 bytes of device variables"):
        cubin.facts(replaced(blob + bytes(8192), size, struct.pack("<Q", 4097)), "sines")


@pytest.mark.parametrize(
    ("name", "message"),
    [("vprintf", "copy prints on the device"), ("malloc", "copy calls malloc of the driver")],
)
def test_what_the_driver_would_do_in_our_process_is_refused(
    bundle: Bundle, binary: bytes, name: str, message: str
) -> None:
    """A stand-in for a name that the cubin leaves to the driver, so that nothing else changes."""
    known = b".nv.reservedSmem.offset0"
    other = with_cubin(bundle, binary.replace(known, name.encode().ljust(len(known), b"\0")))
    with pytest.raises(PlanRefused, match=message):
        cubin.check(other)


def test_a_second_symbol_table_is_refused(binary: bytes) -> None:
    for kind in (2, 11):
        header = section_header(binary, ".debug_line")
        with pytest.raises(PlanRefused, match="not exactly one symbol table"):
            cubin.facts(replaced(binary, header + 4, struct.pack("<I", kind)), "copy")


def test_a_symbol_table_of_another_name_or_type_is_refused(binary: bytes) -> None:
    hidden = binary.replace(b"\0.symtab\0", b"\0.symtob\0")
    untyped = replaced(binary, section_header(binary, ".symtab") + 4, struct.pack("<I", 1))
    for other in (hidden, untyped):
        assert other != binary
        with pytest.raises(PlanRefused, match="not exactly one symbol table"):
            cubin.facts(other, "copy")


def test_sections_of_the_same_name_are_refused(binary: bytes) -> None:
    """The driver may read the one of which nothing is known here."""
    info = binary[section_header(binary, ".nv.info.copy") :][:4]
    with pytest.raises(PlanRefused, match="two of its sections have the same name"):
        cubin.facts(replaced(binary, section_header(binary, ".debug_line"), info), "copy")


@pytest.mark.parametrize("index", [0xFFF1, 0xFFF2, 0xFFFF, 0x100])
def test_symbols_outside_of_all_sections_are_refused(binary: bytes, index: int) -> None:
    table = SECTION.unpack_from(binary, section_header(binary, ".symtab"))[4]
    with pytest.raises(PlanRefused, match="a symbol lies in no section of it"):
        cubin.facts(replaced(binary, table + 24 + 6, struct.pack("<H", index)), "copy")


def test_assertions_may_fail() -> None:
    body = """
@triton.jit(debug=True)
def checked(x_ptr, y_ptr):
    x = tl.load(x_ptr)
    tl.device_assert(x < 3, "too large")
    tl.store(y_ptr, x)

def solve(x):
    y = torch.empty_like(x)
    checked[(1,)](x, y)
    return y
"""
    asserting = built(COPY + body, COPYING)
    cubin.check(asserting)
    (digest,) = asserting.plan.kernels
    symbols = elf.read(asserting.blobs[digest]).symbols()
    assert "__assertfail" in {symbol.name for symbol in symbols if symbol.section == 0}


def test_overlapping_sections_are_refused(binary: bytes) -> None:
    size = section_header(binary, ".text.copy") + 24
    whole = replaced(binary, size, struct.pack("<QQ", 0, len(binary)))
    with pytest.raises(PlanRefused, match="its sections overlap"):
        cubin.facts(whole, "copy")


def test_a_large_cubin_is_refused(binary: bytes) -> None:
    with pytest.raises(PlanRefused, match="more than 8388608 bytes"):
        cubin.facts(binary + bytes(8 << 20), "copy")


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_any_damage_is_refused_or_harmless(binary: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(binary) - 1))
    damage = data.draw(st.binary(min_size=1, max_size=8))
    cut = data.draw(st.sampled_from([len(binary), len(binary) // 2, place]))
    try:
        facts = cubin.facts(replaced(binary, place, damage)[:cut], "copy")
    except PlanRefused:
        return
    assert 0 <= facts.registers <= 255


@pytest.mark.parametrize(
    ("claim", "value"), [("registers", 8), ("stack_bytes", 16), ("static_shared_bytes", 32)]
)
def test_stated_resources_must_be_the_cubins(bundle: Bundle, claim: str, value: int) -> None:
    ((digest, kernel),) = bundle.plan.kernels.items()
    resources = kernel.resources.model_copy(update={claim: value})
    changed = kernel.model_copy(update={"resources": resources})
    plan = bundle.plan.model_copy(update={"kernels": {digest: changed}})
    with pytest.raises(PlanRefused, match="not those of its cubin"):
        cubin.check(bundle.model_copy(update={"plan": plan}))


def test_more_shared_memory_than_a_block_has_is_refused(bundle: Bundle) -> None:
    ((digest, kernel),) = bundle.plan.kernels.items()
    resources = kernel.resources.model_copy(update={"shared_bytes": 232_449})
    changed = kernel.model_copy(update={"resources": resources})
    plan = bundle.plan.model_copy(update={"kernels": {digest: changed}})
    with pytest.raises(PlanRefused, match="more shared memory"):
        cubin.check(bundle.model_copy(update={"plan": plan}))


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (PointerArgument(buffer=None),) * 2,
        (PointerArgument(buffer=None),) * 3,
        (*(PointerArgument(buffer=None),) * 2, IntegerArgument(type="i64", value=1)),
        (*(PointerArgument(buffer=None),) * 2, *(IntegerArgument(type="i32", value=1),) * 2),
    ],
)
def test_arguments_must_have_the_parameters_sizes(
    bundle: Bundle, binary: bytes, arguments: tuple[PointerArgument | IntegerArgument, ...]
) -> None:
    (launch,) = bundle.plan.cases[0].launches()
    facts = cubin.facts(binary, "copy")
    cubin.check_launch(launch, facts, "copy")
    with pytest.raises(PlanRefused, match="other sizes than its 5"):
        cubin.check_launch(launch.model_copy(update={"arguments": arguments}), facts, "copy")


def test_a_cubin_of_another_kernel_is_refused(bundle: Bundle, binary: bytes) -> None:
    other = with_cubin(bundle, binary.replace(b"copy", b"kopy"))
    with pytest.raises(PlanRefused, match="no code for copy"):
        cubin.check(other)
