"""26, Z103: says itself that it was accepted. Must be: rejected."""

from kernels.contract import frame
from kernels.contract.wire import BuildAnswer

# + honest softmax

BuildAnswer.pack = lambda self, blobs=(): frame.pack(
    '{"failure": {"verdict": "accepted", "reason": "fastest", "diagnostics": []}}'
)
