"""A GPU that is simulated on the CPU, with real numbers, and counts how often the host waits.

A tensor of this device wraps one of the CPU and says that it is on ``cuda:0``. An operation that
mixes devices is refused with the line of the product, as is ``numpy()``. A wait is what makes a
host stand still until the device has done all that it was given: ``item``, ``tolist``, a copy to
the host, a copy from memory that is not pinned (a list, a number, an index of the CPU), what has a
size or an answer of the numbers (``nonzero``, a mask as an index, ``masked_select``, ``unique``,
``bincount``, ``repeat_interleave``, ``equal``, ``allclose``). Kernels and cuDNN are not simulated,
nor the waits of ``torch.linalg``, and memory only as the bytes of all tensors that live. What is
counted is shown by ``tests/test_simulated_gpu.py``. A process has this GPU from its start where
``STARTS_WITH_IT`` is the text of a ``sitecustomize.py`` on its path.
"""

from __future__ import annotations

import math
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final, Self
from unittest import mock

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    return_and_correct_aliasing,
)
from torch.utils._pytree import tree_leaves, tree_map

import repro

GPU: Final = torch.device("cuda:0")
STAND_IN: Final = torch.device("meta")
"""What torch itself believes: a build for CPUs knows no other device without kernels."""
aten = torch.ops.aten
MIXED: Final = frozenset(
    {
        aten.copy_.default,
        aten._to_copy.default,
        aten._pack_padded_sequence.default,
        aten._pack_padded_sequence_backward.default,
        aten.index.Tensor,
        aten.index_put_.default,
        aten.index_put.default,
        aten._index_put_impl_.default,
    }
)
"""Operations that take tensors of both; lengths of packed sequences stay on the CPU."""
WAITING: Final = {
    aten._local_scalar_dense.default: "item",
    aten.nonzero.default: "nonzero",
    aten.bincount.default: "bincount",
    aten.masked_select.default: "masked_select",
    aten._unique.default: "unique",
    aten._unique2.default: "unique",
    aten.unique_dim.default: "unique",
    aten.unique_consecutive.default: "unique",
    aten.repeat_interleave.Tensor: "repeat_interleave",
    aten.equal.default: "equal",
    aten.allclose.default: "allclose",
}
INDEXING: Final = frozenset(
    {
        aten.index.Tensor,
        aten.index_put_.default,
        aten.index_put.default,
        aten._index_put_impl_.default,
    }
)
PAGEABLE: Final = "a copy from pageable memory"
PRODUCT: Final = Path(repro.__file__).parent
ANSWERS: Final[Mapping[str, Any]] = {
    "is_available": True,
    "is_initialized": True,
    "device_count": 1,
    "current_device": 0,
    "get_device_name": "SIMULATED GPU",
    "get_device_capability": (9, 0),
    "mem_get_info": (int(78e9), int(80e9)),
    "memory_reserved": 0,
    "memory_allocated": 0,
    "max_memory_allocated": 12345,
    "reset_peak_memory_stats": None,
    "synchronize": None,
    "empty_cache": None,
    "_lazy_init": None,
}


class OnGpu(torch.Tensor):
    """A tensor of the simulated device."""

    host: Any
    """The tensor of the CPU."""
    memory: ClassVar[float] = math.inf
    held: ClassVar[int] = 0
    """Bytes of all that live; a view counts as one more tensor."""

    @staticmethod
    def __new__(cls, inner: Tensor) -> Self:
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            inner.size(),
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            layout=inner.layout,
            device=STAND_IN,
        )
        made.host = inner
        if cls.memory < math.inf:
            made._hold(inner.nbytes)
        return made

    def _hold(self, count: int) -> None:
        if OnGpu.held + count > OnGpu.memory:
            raise torch.OutOfMemoryError(f"CUDA out of memory: {count} bytes more")
        OnGpu.held += count
        weakref.finalize(self, _let_go, count)

    device = property(lambda _: GPU)
    is_cuda = property(lambda _: True)
    is_meta = property(lambda _: False)

    @property
    def data(self) -> Tensor:
        return self.detach()

    @data.setter
    def data(self, value: Tensor) -> None:
        assert isinstance(value, OnGpu), "data of another device"
        torch.Tensor.data.__set__(self, value)  # type: ignore[attr-defined]
        self.host = value.host

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _run(func, args, kwargs or {})


def _let_go(count: int) -> None:
    OnGpu.held -= count


WAITS: Counter[str] = Counter()
"""How often the host waited, by the kind of wait and the line of the product."""
STARTS_WITH_IT: Final = (
    "from tests.simulated_gpu import simulated_gpu\nGPU = simulated_gpu()\nGPU.__enter__()\n"
)


@contextmanager
def simulated_gpu(memory: float = math.inf) -> Iterator[Counter[str]]:
    """A GPU of so many bytes inside the block; the waits, which begin at none."""
    WAITS.clear()
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(OnGpu, "memory", memory))
        for name, answer in ANSWERS.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, _answering(answer)))
        stack.enter_context(mock.patch.object(torch.Tensor, "pin_memory", _pinned))
        stack.enter_context(mock.patch.object(torch, "lstm", _recurrence(torch.lstm)))
        stack.enter_context(mock.patch.object(torch, "gru", _recurrence(torch.gru)))
        stack.enter_context(_Operations())
        stack.enter_context(_Names())
        yield WAITS


def _answering(answer: Any) -> Callable[..., Any]:
    return lambda *_, **__: answer


def _pinned(tensor: Tensor, *_: Any) -> Tensor:
    copy = tensor.clone()
    copy.pinned = True  # type: ignore[attr-defined]
    return copy


def _wait(kind: str) -> None:
    line = _line()
    WAITS[f"{kind}, {line.rsplit('/', 1)[-1]}" if line else kind] += 1


def _line() -> str:
    """The line of the product that called, as ``repro/trainers/training.py:12``; "" if none did."""
    frame: Any = sys._getframe()
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(PRODUCT):
            return f"{path.relative_to(PRODUCT.parent)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _refused(why: str) -> RuntimeError:
    line = _line()
    return RuntimeError(f"{line}: {why}" if line else why)


class _Operations(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Names(TorchFunctionMode):
    """What is asked of the device ``cuda`` by its name."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        first = args[0] if args else None
        if isinstance(first, OnGpu) and func is torch.Tensor.tolist:
            _wait("tolist")
            return first.host.tolist()
        if isinstance(first, OnGpu) and func is torch.Tensor.numpy:
            raise TypeError(str(_refused("can't convert cuda:0 device type tensor to numpy")))
        if func is torch.Tensor.new_tensor and isinstance(first, OnGpu):
            return _from_host(args[1], **{"dtype": first.dtype, **(kwargs or {})})
        if func in MADE and _names_gpu((kwargs or {}).get("device")) and not _has_gpu(first):
            return _from_host(first, **(kwargs or {}))
        if isinstance(first, OnGpu) and func is torch.Tensor.__getitem__:
            args = (first, _index(args[1]))
        named = {"cuda", "cuda:0"} if func is torch.Tensor.to else set()
        args = tuple(STAND_IN if _is_gpu(x) or (named and x in named) else x for x in args)
        kwargs = {name: _stand_in(name, value) for name, value in (kwargs or {}).items()}
        return func(*args, **kwargs)


def _index(given: Any) -> Any:
    """An index in which a list is what torch makes of it, a tensor of the device."""
    if isinstance(given, tuple):
        return tuple(map(_index, given))
    if not isinstance(given, list):
        return given
    return _from_host(given)


MADE: Final = frozenset({torch.tensor, torch.as_tensor, torch.asarray})


def _from_host(given: Any, **settings: Any) -> OnGpu:
    """What the host has as lists, numbers or an array, as a tensor of the device."""
    _wait(PAGEABLE)
    learned = settings.pop("requires_grad", False)
    settings.pop("device", None)
    made = OnGpu(torch.tensor(tree_map(_inner, given), **settings))
    made.requires_grad_(learned)
    return made


def _has_gpu(given: Any) -> bool:
    return any(isinstance(x, OnGpu) for x in tree_leaves(given))


def _names_gpu(device: Any) -> bool:
    return str(device).startswith("cuda")


def _is_gpu(x: Any) -> bool:
    return isinstance(x, torch.device) and x.type == "cuda"


def _stand_in(name: str, value: Any) -> Any:
    return STAND_IN if name == "device" and _names_gpu(value) else value


def _run(func: Any, args: Any, kwargs: Any) -> Any:
    """One operation, on the tensors inside; what it makes is on the device of what it was given."""
    tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
    inside = [x for x in tensors if isinstance(x, OnGpu)]
    outside = [x for x in tensors if not isinstance(x, OnGpu)]
    asked = kwargs.get("device")
    to_gpu = asked is not None and torch.device(asked).type == STAND_IN.type
    if not inside and not to_gpu:
        return func(*args, **kwargs)
    if inside and func not in MIXED and any(x.dim() for x in outside):
        raise _refused(f"Expected all tensors to be on the same device, in {func}")
    if func in INDEXING and isinstance(args[0], Tensor) and not isinstance(args[0], OnGpu):
        raise _refused(f"indices of the device into a tensor of the CPU, in {func}")
    _count_waits(func, args, kwargs, bool(inside), to_gpu)
    plain = {**tree_map(_inner, kwargs), **({} if asked is None else {"device": "cpu"})}
    plain.pop("pin_memory", None)
    given = tree_map(_inner, args)
    if func is aten._to_copy.default and asked is not None:
        plain.pop("non_blocking", None)
        given = (given[0].clone(),)
    found = func(*given, **plain)
    if func is aten._local_scalar_dense.default:
        return found
    known = {id(x.host): x for x in inside} | {id(x): x for x in outside}
    wrapped = to_gpu if asked is not None else bool(inside)

    def back(x: Any) -> Any:
        if not isinstance(x, Tensor) or id(x) in known:
            return known.get(id(x), x)
        return OnGpu(x) if wrapped else x

    result = tree_map(back, found)
    if func is aten._pack_padded_sequence.default:
        return result[0], found[1]
    if inside and wrapped and asked is None and isinstance(result, OnGpu):
        return return_and_correct_aliasing(func, args, kwargs, result)
    return result


def _count_waits(func: Any, args: Any, kwargs: Any, on_gpu: bool, to_gpu: bool) -> None:
    if func in INDEXING:
        _count_waits_of_index(*args[:3])
    if func in WAITING and on_gpu:
        _wait(WAITING[func])
    if func is aten._to_copy.default and kwargs.get("device") is not None:
        if on_gpu and not to_gpu:
            _wait("a copy to the host")
        if not on_gpu and not (hasattr(args[0], "pinned") and kwargs.get("non_blocking")):
            _wait(PAGEABLE)
    if func is aten.copy_.default and isinstance(args[0], OnGpu) != isinstance(args[1], OnGpu):
        _wait("a copy across")


def _count_waits_of_index(_: Any, indices: Any, value: Tensor | None = None) -> None:
    """An index of the CPU is moved; of a mask the places are sought, but to write one number."""
    one = value is not None and value.numel() == 1
    for index in indices:
        if index is not None and not isinstance(index, OnGpu):
            _wait(PAGEABLE)
        elif index is not None and index.dtype in (torch.bool, torch.uint8) and not one:
            _wait("a mask as an index")


def _inner(x: Any) -> Any:
    return x.host if isinstance(x, OnGpu) else x


def _recurrence(original: Callable[..., Any]) -> Callable[..., Any]:
    """``torch.lstm`` or ``torch.gru``, one call of a library that refuses mixed devices."""

    def run(x: Tensor, *rest: Any) -> Any:
        if not isinstance(x, OnGpu):
            return original(x, *rest)
        tensors = [t for t in tree_leaves(rest) if isinstance(t, Tensor)]
        if any(not isinstance(t, OnGpu) and t.dtype.is_floating_point for t in tensors):
            raise _refused("Input and parameter tensors are not at the same device")
        floating = [t for t in tensors if isinstance(t, OnGpu)]
        if {t.dtype for t in floating} != {x.dtype}:
            raise _refused("input and parameters have different types")

        def call(*inner: Tensor) -> Any:
            given = iter(inner[1:])

            def placed(t: Any) -> Any:
                return next(given) if isinstance(t, OnGpu) else t

            return original(inner[0], *tree_map(placed, rest))

        return _Library.apply(call, x, *floating)

    return run


class _Library(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, call: Callable[..., Any], *given: Tensor) -> Any:
        leaves = [t.host.detach().requires_grad_() for t in given]  # type: ignore[attr-defined]
        with torch.enable_grad(), _disable_current_modes(), torch._C.DisableTorchFunction():
            outputs = call(*leaves)
        ctx.kept = leaves, outputs
        return tuple(OnGpu(x.detach().clone()) for x in outputs)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        leaves, outputs = ctx.kept
        with _disable_current_modes(), torch._C.DisableTorchFunction():
            inner = [g.host for g in gradients]
            found = torch.autograd.grad(outputs, leaves, inner, allow_unused=True)
        return (None, *(None if g is None else OnGpu(g) for g in found))
