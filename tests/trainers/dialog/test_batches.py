"""What a step reads."""

import numpy as np
import torch
from torch.nn.utils.rnn import pad_packed_sequence

from repro.trainers.dialog.corpus import batch_of, in_order, shuffled
from tests.trainers.dialog import tiny

BEGIN, END, OPENING = tiny.BEGIN, tiny.END, tiny.OPENING
SPLIT = tiny.split([[[7], [8, 9, 10]], [[], [11]]])


def sequences(packed):
    padded, lengths = pad_packed_sequence(packed, batch_first=True)
    return [row[:length].tolist() for row, length in zip(padded, lengths.tolist(), strict=True)]


def test_a_batch_has_contexts_inputs_and_targets():
    """Contexts are whole utterances; targets are the inputs one step later, to </s>."""
    batch = batch_of(SPLIT, [SPLIT.examples[1], SPLIT.examples[2]])
    assert sequences(batch.dialogs) == [[0, 1], [2]]
    opening = [BEGIN, OPENING, END]
    assert sequences(batch.utterances) == [opening, [BEGIN, 7, END], opening]
    assert sequences(batch.inputs) == [[BEGIN, 8, 9, 10], [BEGIN]]
    assert sequences(batch.inputs._replace(data=batch.targets)) == [[8, 9, 10, END], [END]]
    assert batch.tokens == len(batch.targets) == 5


def test_the_tokens_of_all_batches_are_those_of_the_split():
    """Every predicted token is in exactly one batch."""
    whole = tiny.random_split()
    batches = [batch_of(whole, examples) for examples in in_order(whole.examples, 3)]
    assert sum(batch.tokens for batch in batches) == whole.predicted
    assert [int(batch.dialogs.batch_sizes[0]) for batch in batches] == [3, 3, 3, 3, 3, 3, 2]


def test_an_epoch_reads_every_response_once_in_an_order_of_its_own():
    """The order is a function of the generator and of nothing else."""
    whole = tiny.random_split()
    orders = [shuffled(whole, 3, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    for order in orders:
        assert [len(examples) for examples in order] == [3, 3, 3, 3, 3, 3, 2]
        flat = [example for examples in order for example in examples]
        assert sorted(flat) == list(whole.examples) != flat


def test_no_global_generator_is_used():
    """Numpy's and torch's own generators are left as they are."""
    state = torch.get_rng_state()
    shuffled(tiny.random_split(), 3, np.random.default_rng(0))
    tiny.built(dtype=torch.float32)
    assert torch.equal(torch.get_rng_state(), state)
