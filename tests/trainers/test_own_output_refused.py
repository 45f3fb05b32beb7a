"""Output layers from outside the package that are refused before anything is trained."""

from __future__ import annotations

import pytest

from repro.errors import DataError
from tests.trainers import small
from tests.trainers.outside import SHIFTED, own

REFUSED = """

from repro.trainers.language_model.output.layer import OutputLayer


class Plain(PointwiseOutput):
    def __init__(self, vocabulary, embedding_size, context_size, dtype):
        super().__init__(vocabulary, embedding_size, dtype)

    def transform(self, z, *parameters):
        return z


class NotFinite(Plain):
    def transform(self, z, *parameters):
        return (z - 100).log()


class Logits(Plain):
    def log_probabilities(self, context_TBD):
        return self.logits(context_TBD)


class Transposed(Plain):
    def log_probabilities(self, context_TBD):
        return super().log_probabilities(context_TBD).transpose(0, 1)


class Bits(Plain):
    def loss(self, *arguments):
        return super().loss(*arguments) / 0.6931


class Sums(Plain):
    def loss(self, context_TBD, targets_TB, *arguments):
        return super().loss(context_TBD, targets_TB, *arguments) * torch.ones(targets_TB.shape)


class Dropping(Plain):
    def log_probabilities(self, context_TBD):
        return super().log_probabilities(nn.functional.dropout(context_TBD, training=self.training))


class RateOfNothing(Plain):
    def learning_rates(self):
        return {"weights": 0.1}


class RateBelowZero(Plain):
    def learning_rates(self):
        return {"weight": -0.1}


class RateOfNoNumber(Plain):
    def learning_rates(self):
        return {"weight": "small"}


class RatesInAList(Plain):
    def learning_rates(self):
        return [("weight", 0.1)]


class RandomBuffer(Plain):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.register_buffer("signs", torch.rand(self.bias.shape).round())


class Forgetful(Shifted):
    def initial(self):
        return {"weight": zeros(), "bias": zeros()}


class Wide(Plain):
    def __init__(self, vocabulary, embedding_size, context_size, dtype):
        super().__init__(vocabulary, embedding_size + 4, context_size, dtype)


class Direct(Shifted):
    def parameters_of_transform(self):
        return ()

    def transform(self, z, *parameters):
        return z + self.shift[0] * z.sin() + self.shift[1] * z.cos()


class Unused(Shifted):
    def transform(self, z, *parameters):
        return z


class Open(OutputLayer):
    def __init__(self, vocabulary, embedding_size, context_size, dtype):
        super().__init__(vocabulary, embedding_size, dtype)


class DroppingLoss(Plain):
    def loss(self, context_TBD, *arguments):
        return super().loss(nn.functional.dropout(context_TBD, 0.5, self.training), *arguments)


class NoisyLoss(Plain):
    def loss(self, context_TBD, *arguments):
        return super().loss(context_TBD + 0.01 * torch.randn_like(context_TBD), *arguments)


class TwoArguments(Plain):
    def loss(self, context_TBD, targets_TB):
        return super().loss(context_TBD, targets_TB)


class Detached(Plain):
    def loss(self, *arguments):
        return super().loss(*arguments).detach()


class DeafToContext(Plain):
    def loss(self, context_TBD, *arguments):
        return super().loss(context_TBD.detach(), *arguments)
"""


@pytest.fixture
def module(outside):
    """The docs' module with more layers, most of them wrong."""
    return outside(SHIFTED + REFUSED)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("NotFinite", "its log_probabilities is not finite at its initial values"),
        ("Logits", "its probabilities do not sum to 1"),
        (
            "Transposed",
            r"its log_probabilities has the shape \(2, 3, 30\)\n  expected: .* \(3, 2, 30\)",
        ),
        ("Bits", "its loss is 4.* and its log-probabilities give 3"),
        ("Sums", r"its loss has the shape \(3, 2\)\n  expected: the shape \(\)"),
        ("Dropping", r"its log_probabilities depends on train\(\) and eval\(\)"),
        ("RateOfNothing", "its learning_rates has 'weights', which is no parameter"),
        ("RateBelowZero", r"the learning rate of weight is -0\.1\n  expected: a number above 0"),
        ("RateOfNoNumber", "the learning rate of weight is 'small'"),
        ("RatesInAList", "its learning_rates is a list"),
        ("RandomBuffer", "its buffer signs is another each time that it is made"),
        ("Wide", r"its weight has the shape \(30, 10\)\n  expected: \(30, 6\)"),
        ("Open", "it does not define log_probabilities, loss\n"),
        ("DroppingLoss", r"its loss depends on train\(\) and eval\(\), or on random numbers"),
        ("NoisyLoss", r"its loss depends on train\(\) and eval\(\), or on random numbers"),
        ("TwoArguments", "it has no loss of contexts, targets and a regularisation: TypeError"),
        ("Detached", "it cannot be differentiated: RuntimeError"),
        ("DeafToContext", "no gradient reaches its input"),
        (
            "Cubic",
            r"TypeError: .*strength.*\n  expected: .* called with \(30, 6, 6, torch\.float64\)",
        ),
    ],
)
def test_what_is_wrong_with_it_is_said_before_training(module, name, message):
    """One error that names the class and says what was expected; no traceback, no number."""
    with pytest.raises(DataError, match=message) as refused:
        small.built(small.model(own(module, name)), 30)
    assert str(refused.value).startswith(f"my_layers:{name}: ")


def test_a_parameter_without_initial_values_is_refused(module):
    """It would be trained from whatever was in memory."""
    with pytest.raises(DataError, match=r"no initial values for shift\n  expected: a distribution"):
        small.built(small.model(own(module, "Forgetful", parameters=2)), 30)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "Direct",
            r"no gradient reaches shift\n  expected: .*, parameters_of_transform\(\) returns\n",
        ),
        ("Unused", "it has no loss of contexts, targets and a regularisation: RuntimeError"),
    ],
)
def test_a_parameter_that_would_not_be_trained_is_refused(module, name, message):
    """It would keep its initial values, and the report would call the layer a learned one."""
    with pytest.raises(DataError, match=message):
        small.built(small.model(own(module, name, parameters=2)), 30)
