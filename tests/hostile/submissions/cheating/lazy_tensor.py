"""45-47: a tensor that would compute when it is compared.

Must be: rejected, build_error or runtime_error."""

import torch


class Lazy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return torch.softmax(args[0].as_subclass(torch.Tensor), -1)


def solve(x):
    return x.as_subclass(Lazy)
