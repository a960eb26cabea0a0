"""Element types that tensors of a task and of a plan may have."""

from enum import StrEnum


class DType(StrEnum):
    """Name of an element type, spelled as torch spells it."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    FLOAT8_E4M3FN = "float8_e4m3fn"
    FLOAT8_E5M2 = "float8_e5m2"
    INT64 = "int64"
    INT32 = "int32"
    INT16 = "int16"
    INT8 = "int8"
    UINT64 = "uint64"
    UINT32 = "uint32"
    UINT16 = "uint16"
    UINT8 = "uint8"
    BOOL = "bool"

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return _ITEMSIZE[self]

    @property
    def is_float(self) -> bool:
        """Whether the type holds floating-point numbers."""
        return self.value.startswith(("float", "bfloat"))

    @property
    def unit(self) -> float:
        """The u of the equality rule: half an ulp, relative to a number just under 2.

        One correct rounding is off by at most 2u of the value. 0 for integers.
        """
        return _UNIT.get(self, 0.0)


_ITEMSIZE = {
    DType.FLOAT64: 8,
    DType.FLOAT32: 4,
    DType.FLOAT16: 2,
    DType.BFLOAT16: 2,
    DType.FLOAT8_E4M3FN: 1,
    DType.FLOAT8_E5M2: 1,
    DType.INT64: 8,
    DType.INT32: 4,
    DType.INT16: 2,
    DType.INT8: 1,
    DType.UINT64: 8,
    DType.UINT32: 4,
    DType.UINT16: 2,
    DType.UINT8: 1,
    DType.BOOL: 1,
}

_UNIT = {
    DType.FLOAT64: 2.0**-54,
    DType.FLOAT32: 2.0**-25,
    DType.FLOAT16: 2.0**-12,
    DType.BFLOAT16: 2.0**-9,
    DType.FLOAT8_E4M3FN: 2.0**-5,
    DType.FLOAT8_E5M2: 2.0**-4,
}
