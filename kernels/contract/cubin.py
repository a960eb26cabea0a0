"""What a cubin says of itself, and whether a plan may launch it: read as hostile input."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from kernels.contract import elf, limits
from kernels.contract.bundle import Bundle, PlanRefused
from kernels.contract.plan import Kernel
from kernels.contract.steps import (
    Argument,
    FloatArgument,
    IntegerArgument,
    Launch,
    PointerArgument,
)

_CUDA_MACHINE = 190
_ENTRY = 0x10
_FRAME_SIZE, _PARAMETER, _REGISTERS = 0x11, 0x17, 0x2F
_PARAMETER_FIELDS = struct.Struct("<IHHI")
_SIZED_VALUE = 4
_RESERVED_SHARED = 1_024
"""Start of the shared memory of every block, which Hopper keeps for itself."""
CONSTANT_BYTES = 4_096
"""Initialised device variables a kernel may have: libdevice's tables and format strings take a few
hundred bytes. Nothing that could carry a result from one replay to the next fits."""

_PROVIDED = {"", "__assertfail", ".nv.reservedSmem.offset0"}
"""What a kernel may leave to the driver. Not vprintf: it formats in the process that launched, by a
text in device memory, and a %n there writes to any of our addresses."""

_INTEGER_BYTES = {"i1": 1, "u1": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4}
_FLOAT_BYTES = {"fp16": 2, "bf16": 2, "fp32": 4, "f32": 4, "fp64": 8}
_POINTER_BYTES = 8
_TENSOR_MAP_BYTES = 128
_SCRATCH = (_POINTER_BYTES, _POINTER_BYTES)
"""Triton appends a pointer to global and one to profiling scratch to every kernel."""


@dataclass(frozen=True)
class CubinFacts:
    """Facts of one kernel, from its ELF file."""

    registers: int
    """Per thread; the most of any function in it."""
    stack_bytes: int
    """Per thread."""
    static_shared_bytes: int
    """Per block."""
    parameters: tuple[int, ...]
    """Bytes of each kernel parameter, in order."""


def facts(cubin: bytes, symbol: str) -> CubinFacts:
    """Facts of an entry point; PlanRefused unless it is sound, for sm_90a and has that entry."""
    if len(cubin) > limits.CUBIN_BYTES:
        raise PlanRefused(f"the cubin of {symbol} has more than {limits.CUBIN_BYTES} bytes")
    try:
        file = elf.read(cubin)
        _check_target(file, symbol)
        _check_entry(file, symbol)
        _check_variables(file, symbol)
        _check_imports(file, symbol)
        return _facts(file, symbol)
    except (elf.ElfRefused, struct.error) as error:
        raise PlanRefused(f"the cubin of {symbol} cannot be read: {error}") from None


def check(bundle: Bundle) -> None:
    """PlanRefused unless every kernel of the plan is sound and every launch fits its parameters."""
    known: dict[str, CubinFacts] = {}
    for digest, kernel in bundle.plan.kernels.items():
        known[digest] = facts(bundle.blobs[digest], kernel.symbol)
        _check_resources(kernel, known[digest])
    for case in bundle.plan.cases:
        for launch in case.launches():
            function = bundle.plan.kernels[launch.kernel].function
            check_launch(launch, known[launch.kernel], function)


def check_launch(launch: Launch, known: CubinFacts, function: str) -> None:
    """PlanRefused unless the arguments have the sizes that the kernel's parameters have."""
    given = (*(argument_bytes(argument) for argument in launch.arguments), *_SCRATCH)
    if given != known.parameters:
        raise PlanRefused(
            f"a launch of {function} passes {len(given)} parameters of other sizes than "
            f"its {len(known.parameters)}"
        )


def argument_bytes(argument: Argument) -> int:
    """Bytes that an argument takes among a kernel's parameters."""
    if isinstance(argument, PointerArgument):
        return _POINTER_BYTES
    if isinstance(argument, IntegerArgument):
        return _INTEGER_BYTES.get(argument.type, 8)
    if isinstance(argument, FloatArgument):
        return _FLOAT_BYTES[argument.type]
    return _TENSOR_MAP_BYTES


def _check_target(file: elf.Elf, symbol: str) -> None:
    # ABI 8 (CUDA 13) moved the architecture and the mark of the "a" variants.
    new = file.abi_version >= 8
    architecture = (file.flags >> 8 if new else file.flags) & 0xFF
    accelerated = bool(file.flags & (0x8 if new else 0x800))
    if file.machine != _CUDA_MACHINE or architecture != 90 or not accelerated:
        raise PlanRefused(f"the cubin of {symbol} is not for sm_90a")


def _check_entry(file: elf.Elf, symbol: str) -> None:
    if file.section(f".text.{symbol}") is None:
        raise PlanRefused(f"the cubin has no code for {symbol}")
    if not any(s.name == symbol and s.other & _ENTRY for s in file.symbols()):
        raise PlanRefused(f"{symbol} is no entry point of its cubin")


def _check_variables(file: elf.Elf, symbol: str) -> None:
    constants = 0
    for section in file.sections:
        if section.name.startswith(".nv.global.init"):
            constants += section.size
        elif section.name.startswith((".nv.global", ".bss", ".data", ".nv.managed")):
            raise PlanRefused(f"{symbol} has device variables, which would outlive a launch")
    if constants > CONSTANT_BYTES:
        raise PlanRefused(f"{symbol} has more than {CONSTANT_BYTES} bytes of device variables")


def _check_imports(file: elf.Elf, symbol: str) -> None:
    for wanted in file.symbols():
        if wanted.section == 0 and wanted.name not in _PROVIDED:
            if wanted.name == "vprintf":
                raise PlanRefused(f"{symbol} prints on the device")
            raise PlanRefused(f"{symbol} calls {wanted.name[:64]} of the driver")


def _check_resources(kernel: Kernel, known: CubinFacts) -> None:
    stated = kernel.resources
    if (stated.registers, stated.stack_bytes, stated.static_shared_bytes) != (
        known.registers,
        known.stack_bytes,
        known.static_shared_bytes,
    ):
        raise PlanRefused(f"the resources of {kernel.function} are not those of its cubin")
    if stated.shared_bytes + known.static_shared_bytes > limits.SHARED_BYTES:
        raise PlanRefused(f"{kernel.function} needs more shared memory than a block can have")


def _facts(file: elf.Elf, symbol: str) -> CubinFacts:
    registers = stack = 0
    for attribute, value in _attributes(file, ".nv.info"):
        if attribute == _REGISTERS:
            registers = max(registers, struct.unpack_from("<I", value, 4)[0])
        elif attribute == _FRAME_SIZE:
            stack = max(stack, struct.unpack_from("<I", value, 4)[0])
    if registers > 255:
        raise PlanRefused(f"{symbol} claims {registers} registers")
    shared = file.section(f".nv.shared.{symbol}")
    return CubinFacts(
        registers=registers,
        stack_bytes=stack,
        static_shared_bytes=0 if shared is None else max(shared.size - _RESERVED_SHARED, 0),
        parameters=_parameters(file, symbol),
    )


def _parameters(file: elf.Elf, symbol: str) -> tuple[int, ...]:
    sizes: dict[int, int] = {}
    for attribute, value in _attributes(file, f".nv.info.{symbol}"):
        if attribute == _PARAMETER:
            _, ordinal, _, word = _PARAMETER_FIELDS.unpack_from(value)
            sizes[ordinal] = word >> 18
    if sorted(sizes) != list(range(len(sizes))):
        raise PlanRefused(f"the parameters of {symbol} are not numbered from 0")
    return tuple(sizes[ordinal] for ordinal in range(len(sizes)))


def _attributes(file: elf.Elf, name: str) -> Iterator[tuple[int, bytes]]:
    section = file.section(name)
    data = b"" if section is None else section.data
    position = 0
    while position + 4 <= len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, position)
        position += 4
        if form == _SIZED_VALUE:
            yield attribute, data[position : position + size]
            position += size
