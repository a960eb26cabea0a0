"""Writing where one reads, or twice: what torch refuses on a GPU and lets pass on meta tensors."""

from collections.abc import Sequence

from torch import Tensor, _debug_has_internal_overlap

_YES = 1
PROBLEM = (
    "some elements of the input tensor and the written-to tensor refer to a single memory location"
)
REMEDY = "copy from a clone(), or write to a tensor of its own"


def overlaps(target: Tensor, sources: Sequence[Tensor]) -> bool:
    """Whether torch would refuse to write the target, element by element, from the sources."""
    if _debug_has_internal_overlap(target) == _YES:
        return True
    return any(_partly(target, source) for source in sources)


def _partly(target: Tensor, source: Tensor) -> bool:
    """Whether two tensors share memory and are not the same, as far as torch looks."""
    if target.untyped_storage()._cdata != source.untyped_storage()._cdata:
        return False
    if not all(tensor.numel() and _is_dense(tensor) for tensor in (target, source)):
        return False
    (begin, end), (first, last) = map(_span, (target, source))
    if (begin, end) == (first, last):
        return target.stride() != source.stride()
    return begin < last and first < end


def _span(tensor: Tensor) -> tuple[int, int]:
    begin = int(tensor.storage_offset()) * tensor.element_size()
    return begin, begin + tensor.numel() * tensor.element_size()


def _is_dense(tensor: Tensor) -> bool:
    """Whether it fills the memory that it spans, in some order of its dimensions."""
    expected = 1
    for step, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size != 1 and step != expected:
            return False
        expected *= size
    return True
