"""A user's own trunk, from outside this package: embedded words to contexts."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor

from repro.lm.awd_lstm import TrunkOutput, detached
from repro.lm.initialisation import Initialised
from repro.lm.own import (
    blaming,
    check_gradients,
    check_parameters,
    check_tensor,
    in_both_modes,
    make,
    on_trial,
    wrong,
)
from repro.lm.regularisation import QUIET, Regularisation
from repro.specs.model import Model, Own

TRIED_WINDOWS = (3, 1)
"""Steps of the windows that a trunk is tried with; a text may end in a window of one step."""

TRIED_STREAMS = 2


class OwnTrunk(Initialised):
    """Embedded words -> contexts, one a word; what a user's own trunk derives from.

    It is made by ``(embedding_size, hidden_size, context_size, layers, dtype, **options)``. Its
    state is a tensor, or a tuple of states; it may be empty.
    """

    @abstractmethod
    def zero_state(self, batch_size: int, like: Tensor) -> Any:
        """The state at the beginning of a text, of the type and on the device of ``like``."""

    @abstractmethod
    def forward(
        self, vectors_TBE: Tensor, state: Any, regularisation: Regularisation = QUIET
    ) -> TrunkOutput:
        """Run over (T, B, E) embedded words from ``state``: contexts (T, B, D) and the state."""


def own_trunk(model: Model, spec: Own, dtype: torch.dtype) -> OwnTrunk:
    """The trunk that ``spec`` names, for the sizes of ``model``; its parameters are not filled.

    Raises DataError when it is not there, is no trunk, is not what ``spec`` states, or, tried on
    two short windows, gives anything but finite contexts of the right shape and a state,
    others in evaluation mode, or contexts that do not depend on all of its parameters.
    """
    sizes = (model.embedding_size, model.hidden_size, model.context_size, model.layers)
    trunk: OwnTrunk = make(spec, OwnTrunk, *sizes, dtype)  # type: ignore[type-abstract]
    check_parameters(spec, trunk)
    _try(spec, on_trial(spec, trunk), model, dtype)
    return trunk


def _try(spec: Own, trunk: OwnTrunk, model: Model, dtype: torch.dtype) -> None:
    shape = (sum(TRIED_WINDOWS), TRIED_STREAMS, model.embedding_size)
    words_TBE = torch.linspace(-0.1, 0.1, math.prod(shape), dtype=dtype).view(shape)
    words_TBE.requires_grad_()
    contexts_TBD = in_both_modes(
        spec, trunk, "its context", lambda: _contexts(spec, trunk, words_TBE, model.context_size)
    )
    check_gradients(spec, trunk, contexts_TBD, words_TBE)


def _contexts(spec: Own, trunk: OwnTrunk, words_TBE: Tensor, context_size: int) -> Tensor:
    """The contexts (T, B, D) of the tried windows, everything checked that comes with them."""
    with blaming(spec, "it has no state at the beginning of a text"):
        state = trunk.zero_state(TRIED_STREAMS, words_TBE)
    _check_state(spec, state, words_TBE)
    contexts = []
    for vectors_TBE in words_TBE.split(TRIED_WINDOWS):
        with blaming(spec, "it cannot run over a window"):
            output = trunk(vectors_TBE, state, QUIET)
        if not isinstance(output, TrunkOutput):
            made = type(output).__name__
            raise wrong(spec, f"a window gives a {made}", "a repro.lm.awd_lstm.TrunkOutput")
        shape = (len(vectors_TBE), TRIED_STREAMS, context_size)
        check_tensor(spec, "its context", output.context, shape, words_TBE)
        check_tensor(spec, "its raw output", output.raw, shape, words_TBE)
        contexts.append(output.context)
        _check_state(spec, output.state, words_TBE)
        state = detached(output.state)
    return torch.cat(contexts)


def _check_state(spec: Own, state: object, like: Tensor) -> None:
    if type(state) is tuple:
        for part in state:
            _check_state(spec, part, like)
    elif isinstance(state, Tensor):
        check_tensor(spec, "its state", state, tuple(state.shape), like)
    else:
        made = type(state).__name__
        raise wrong(spec, f"its state has a {made} in it", "a tensor, or a tuple of states")
