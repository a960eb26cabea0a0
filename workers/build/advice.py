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
        r"torch\.cuda\.\w*Tensor not available|ATen_cuda library|Storage device not recognized"
        r"|Found no NVIDIA driver",
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
    (
        r"it is on torch's meta device",
        "the meta device has shapes and no memory: allocate with device='cuda', or use "
        "module.to_empty(device='cuda')",
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
    (
        r"prints on the device",
        "take tl.device_print out: what it prints is put together in the judge's own process, and "
        "counts as time; print on your own machine, or under Triton's interpreter",
    ),
    (r"is outside the limits \(2\*\*31-1", "put the largest dimension of the grid first"),
    (r"has over 2\*\*31-1 programs", "let each program do more: larger blocks, or a loop"),
    (r"needs more than 1 GiB of global scratch", "launch fewer programs, each in a loop"),
    (r"-block clusters is too large", "use a smaller num_ctas, or a grid that it divides"),
    (r"Unable to find a compiler|Command '\['?(c\+\+|g\+\+|gcc|ninja)|Ninja is required",
     "nothing but Triton kernels can be compiled here"),
)  # fmt: skip


_IN_A_KERNEL = "write it as a Triton kernel"
_INSTEAD = (
    (
        r"(add|b|base_addb)?mm|(add)?mv|dot|vdot|linear|matmul|bmm|addr|scaled_mm|einsum|conv.*"
        r"|.*attention.*",
        "with tl.dot",
    ),
    (
        r"index.*|gather|take.*|scatter.*|flip|masked.*|where|tril|triu|.*_pad\d?d?|repeat_interleave"
        r"|embedding.*|put|rot90",
        "that loads or stores by index or under a mask: pass it what it needs to compute them",
    ),
    (r"sort|topk|kthvalue|median|argsort|mode", "with tl.sort or tl.topk"),
    (r"cum.*|logcumsumexp", "with tl.cumsum or tl.associative_scan"),
    (
        r"sum|mean|amax|amin|max|min|prod|var|std|norm|.*norm|argmax|argmin|any|all|logsumexp"
        r"|.*softmax.*|.*loss.*|linalg.*",
        "with tl.sum, tl.max or tl.reduce",
    ),
)
_MAY = "torch may allocate, fill, copy, cast, join and view"


def instead_of(operation: str) -> str:
    """What to write instead of a torch operation that computes."""
    found = (how for pattern, how in _INSTEAD if re.fullmatch(pattern, operation))
    how = next(found, "")
    return f"{_IN_A_KERNEL}{' ' if how else ''}{how}; {_MAY}"


def remedy(message: str) -> str | None:
    """What the author of code that raised this should write instead; None if nobody knows."""
    return next((text for pattern, text in _REMEDIES if re.search(pattern, message)), None)
