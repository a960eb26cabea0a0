"""81, 82: a compiler, a native library, another kernel package. Must be: build_error or rejected."""

import torch.utils.cpp_extension

torch.utils.cpp_extension.load_inline("fast", "int f() { return 1; }", functions=["f"])
