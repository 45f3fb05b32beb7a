"""A GPU that is simulated on the CPU, with real numbers, and counts how often the host waits.

A tensor of this device wraps one of the CPU and says that it is on ``cuda:0``. An operation that
mixes devices is refused, as is ``numpy()``. A wait is what makes a host stand still until the
device has done all that it was given: ``item``, ``tolist``, a copy to the host, a copy from memory
that is not pinned, ``nonzero`` and ``bincount``. Kernels and cuDNN are not simulated, and memory
only as the bytes of all tensors that live. A process has this GPU from its start where
``STARTS_WITH_IT`` is the text of a ``sitecustomize.py`` on its path.
"""

from __future__ import annotations

import math
import traceback
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
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
    }
)
"""Operations that take tensors of both; lengths of packed sequences stay on the CPU."""
WAITING: Final = {
    aten._local_scalar_dense.default: "item",
    aten.nonzero.default: "nonzero",
    aten.bincount.default: "bincount",
}
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
    for frame in reversed(traceback.extract_stack()):
        if "/repro/" in frame.filename:
            WAITS[f"{kind}, {frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}"] += 1
            return
    WAITS[kind] += 1


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
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
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
    _wait("a copy from pageable memory")
    return OnGpu(torch.tensor(given))


def _is_gpu(x: Any) -> bool:
    return isinstance(x, torch.device) and x.type == "cuda"


def _stand_in(name: str, value: Any) -> Any:
    return STAND_IN if name == "device" and str(value).startswith("cuda") else value


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
        raise RuntimeError(f"Expected all tensors to be on the same device, in {func}")
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
    if func in WAITING and on_gpu:
        _wait(WAITING[func])
    if func is aten._to_copy.default and kwargs.get("device") is not None:
        if on_gpu and not to_gpu:
            _wait("a copy to the host")
        if not on_gpu and not (hasattr(args[0], "pinned") and kwargs.get("non_blocking")):
            _wait("a copy from pageable memory")
    if func is aten.copy_.default and isinstance(args[0], OnGpu) != isinstance(args[1], OnGpu):
        _wait("a copy across")


def _inner(x: Any) -> Any:
    return x.host if isinstance(x, OnGpu) else x


def _recurrence(original: Callable[..., Any]) -> Callable[..., Any]:
    """``torch.lstm`` or ``torch.gru``, one call of a library that refuses mixed devices."""

    def run(x: Tensor, *rest: Any) -> Any:
        if not isinstance(x, OnGpu):
            return original(x, *rest)
        tensors = [t for t in tree_leaves(rest) if isinstance(t, Tensor)]
        if any(not isinstance(t, OnGpu) and t.dtype.is_floating_point for t in tensors):
            raise RuntimeError("Input and parameter tensors are not at the same device")
        floating = [t for t in tensors if isinstance(t, OnGpu)]
        if {t.dtype for t in floating} != {x.dtype}:
            raise RuntimeError("input and parameters have different types")

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
