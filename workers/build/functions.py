"""Torch functions that ask for addresses or values, answered for tensors that have neither."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.utils.dlpack

from workers.build.recorder import Recorder
from workers.build.tensors import META, on_device
from workers.facade import Handler

T = torch.Tensor
Call = Callable[..., Any]
_READS: dict[Any, str] = {
    T.item: "tensor.item()",
    T.tolist: "tensor.tolist()",
    T.numpy: "tensor.numpy()",
    T.__array__: "tensor.__array__()",
    T.__bool__: "a condition on a tensor",
    T.__int__: "int(tensor)",
    T.__float__: "float(tensor)",
    T.__index__: "a tensor used as an index or size",
    T.__complex__: "complex(tensor)",
    T.__contains__: "`in` on a tensor",
}


class MetaFunctions:
    """Handlers for tensors without values."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def handlers(self) -> Mapping[Any, Handler]:
        """Handler of every function that needs one."""
        return {
            **dict.fromkeys(_READS, self._read),
            **dict.fromkeys((T.__repr__, T.__format__, T.__str__), self._text),
            **dict.fromkeys((torch.tensor, torch.scalar_tensor), self._tensor),
            **dict.fromkeys((torch.as_tensor, torch.asarray), self._as_tensor),
            T.new_tensor: self._new_tensor,
            T.data_ptr: self._data_ptr,
            getattr(T, "__cuda_array_interface__").__get__: self._export,  # noqa: B009  mypy
            T.__dlpack__: self._export,
        }

    def _read(self, func: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not on_device(args[0]):
            return func(*args, **kwargs)
        return func(self._recorder.read(args[0], _READS[func]), *args[1:], **kwargs)

    def _text(self, func: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tensor = args[0]
        if not on_device(tensor):
            return func(*args, **kwargs)
        values = self._recorder.known.get(tensor)
        if values is not None and values.dim() == 0:
            return func(values, *args[1:], **kwargs)
        return f"tensor(<not known before the GPU runs>, {tuple(tensor.size())}, {tensor.dtype})"

    def _data_ptr(self, func: Call, args: tuple[Any, ...], _: dict[str, Any]) -> Any:
        return self._recorder.memory.address(args[0]) if on_device(args[0]) else func(*args)

    def _tensor(self, func: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        # Given device="meta", torch itself would keep the shape and lose the values.
        data = args[0] if args else kwargs.pop("data")
        device = kwargs.pop("device", None)
        if on_device(data):
            return self._copied(data, kwargs)
        gradient = kwargs.pop("requires_grad", False)
        result = func(data, *args[1:], **kwargs)
        return _placed(result, device).requires_grad_(gradient)

    def _as_tensor(self, func: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        data, *rest = args or (kwargs.pop("data", kwargs.pop("obj", None)),)
        device = kwargs.pop("device", None)
        if len(rest) > 1:
            device = META if torch.device(rest.pop()).type in ("cuda", "meta") else None
        if on_device(data):
            dtype = rest[0] if rest else kwargs.get("dtype")
            moved = data if device is None else data.to(device)
            cast = moved if dtype is None else moved.to(dtype)
            return cast.clone() if cast is data and kwargs.get("copy") else cast
        return _placed(func(data, *rest, **kwargs), device)

    def _new_tensor(self, _: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        like, *rest = args
        data = rest[0] if rest else kwargs.pop("data")
        kwargs["dtype"] = kwargs.get("dtype") or like.dtype
        if kwargs.get("device") is None and on_device(like):
            kwargs["device"] = META
        return self._tensor(torch.tensor, (data,), kwargs)

    def _copied(self, data: T, kwargs: dict[str, Any]) -> T:
        copy = data.detach().clone()
        dtype = kwargs.get("dtype")
        return copy if dtype is None else copy.to(dtype)

    def _export(self, func: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not on_device(args[0]):
            return func(*args, **kwargs)
        raise _exported(self._recorder)


def install_plain_functions(recorder: Recorder) -> None:
    """Answer what is no torch function: addresses of storages, and handing tensors out."""
    real_address = torch.UntypedStorage.data_ptr

    def data_ptr(storage: torch.UntypedStorage) -> int:
        if storage.device.type == "cpu":
            return real_address(storage)
        return recorder.memory.of_storage(storage).address

    def copied(tensor: T) -> Any:
        # By way of pickle, as torch has it, a tensor without values would get memory of its own.
        if not on_device(tensor):
            rebuild, arguments, *_ = tensor.__reduce_ex__(4)  # type: ignore[no-untyped-call]
            return rebuild(*arguments)
        gradient, alias = tensor.requires_grad, tensor.detach()
        if isinstance(tensor, torch.nn.Parameter):
            alias = torch.nn.Parameter(alias, gradient)
        vars(alias).update(vars(tensor))
        return alias.requires_grad_(gradient)

    real_export: Call = vars(torch)["to_dlpack"]

    def to_dlpack(tensor: T) -> Any:
        if not on_device(tensor):
            return real_export(tensor)
        raise _exported(recorder)

    setattr(torch.UntypedStorage, "data_ptr", data_ptr)  # noqa: B010  mypy forbids the assignment
    setattr(T, "__copy__", copied)  # noqa: B010  mypy does not know it
    for owner in (torch, torch.utils.dlpack):
        setattr(owner, "to_dlpack", to_dlpack)  # noqa: B010  mypy forbids the assignment


def _exported(recorder: Recorder) -> Exception:
    return recorder.refused(
        "device memory cannot be handed to another library", "launch Triton kernels only"
    )


def _placed(tensor: T, device: Any) -> T:
    return tensor if device is None else tensor.to(device)
