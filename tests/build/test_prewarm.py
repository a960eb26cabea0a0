"""What the fork server imports before any submission."""

import subprocess
import sys

SCRIPT = """
import sys
import workers.build.prewarm
import torch, triton
from triton.runtime.cache import triton_key
from triton.runtime import driver
print("torch._dynamo" in sys.modules, "sympy" in sys.modules)
print(triton_key.cache_info().currsize)
print(driver._active is None, triton.compile is triton.compiler.compile)
print(torch.cuda.is_initialized())
print(triton.compile.__module__)
"""


def test_it_makes_warm_without_changing_torch_or_triton() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == [
        *("True", "True", "1"),
        *("True", "True", "False"),
        "triton.compiler.compiler",
    ]
