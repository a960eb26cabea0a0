"""P1: an answer nested a hundred thousand deep. Must be: rejected."""

from kernels.contract import frame
from kernels.contract.wire import BuildAnswer

# + honest softmax

BuildAnswer.pack = lambda self, blobs=(): frame.pack('{"failure":' * 100_000)
