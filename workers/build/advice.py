"""What to write instead, for errors of Python, torch and Triton that real host code runs into."""

import re

_REMEDIES = (
    (
        r"No module named 'triton\.tools\.experimental_descriptor'"
        r"|no attribute '\w*(fill_\w*tma|create_\w*tma)_descriptor",
        "Triton has no raw TMA descriptors any more: use "
        "triton.tools.tensor_descriptor.TensorDescriptor.from_tensor",
    ),
    (r"No module named 'triton\.ops", "triton.ops was removed: paste the kernel you need"),
    (
        r"No module named",
        "a submission has Python's standard library, numpy, torch and triton: paste the rest",
    ),
    (
        r"'meta' device|meta tensor",
        "host code runs before the GPU does and cannot see what device memory holds: decide by "
        "shapes, strides and dtypes, or do it inside a kernel",
    ),
    (
        r"torch\.cuda\.\w*Tensor not available|ATen_cuda library|Storage device not recognized",
        "allocate by torch.empty(..., dtype=..., device='cuda') and cast by .to(dtype)",
    ),
    (r"only supported by strided tensors", "only dense tensors can be on the device"),
    (r"libcuda|libcudart|libnvrtc", "there is no CUDA driver here: launch Triton kernels only"),
    (r"NCCL|Distributed package", "a submission sees one GPU and no network"),
    (r"nvidia-smi", "ask torch.cuda.get_device_properties; no other program can be run"),
    (r"object of type 'int' has no len\(\)", "a kernel's grid is a tuple: kernel[(n,)](...)"),
    (
        r"'float' object cannot be interpreted as an integer",
        "sizes and grids are integers: divide with triton.cdiv(a, b) or a // b",
    ),
    (r"\(cpu tensor\?\)", "move the CPU tensor with .cuda() first"),
    (r"failed to specialize argument of type: list", "pass a tuple instead of a list"),
    (r"failed to specialize argument of type: numpy", "pass int(...) or float(...) of it"),
    (r"'CompiledKernel' object has no attribute 'shared'", "read kernel.metadata.shared"),
    (
        r"unexpected keyword argument 'trans_[ab]'",
        "tl.dot lost trans_a and trans_b: write tl.dot(a, tl.trans(b))",
    ),
    (
        r"'tuple_type' object has no attribute",
        "a pointer argument is a tuple: look for a comma too many in the host code",
    ),
    (r"Cannot call @triton\.jit'd outside", "launch it with a grid: kernel[grid](...)"),
    (r"out of resource: shared memory", "use smaller blocks or fewer stages (num_stages)"),
    (
        r"did not compile within",
        "give each thread less to do: with more warps (num_warps), in smaller blocks, or in a loop "
        "that the compiler does not unroll",
    ),
    (r"Unable to find a compiler|Command '\['?(c\+\+|g\+\+|gcc|ninja)|Ninja is required",
     "nothing but Triton kernels can be compiled here"),
)  # fmt: skip


def remedy(message: str) -> str | None:
    """What the author of code that raised this should write instead; None if nobody knows."""
    return next((text for pattern, text in _REMEDIES if re.search(pattern, message)), None)
