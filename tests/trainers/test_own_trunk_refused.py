"""What can be wrong with a trunk from outside the package, and how it is said."""

from __future__ import annotations

import pytest

from repro.digest import file_digest
from repro.errors import DataError
from tests.trainers import small
from tests.trainers.outside import WINDOW, own, own_gru, own_window

FLAWED = """


class Broken(Window):
    flaw = ""

    def forward(self, vectors_TBE, state, regularisation=QUIET):
        context, raw, state = super().forward(vectors_TBE, state)
        return self.broken(context, raw, state)


class WrongShape(Broken):
    def broken(self, context, raw, state):
        return TrunkOutput(context[..., :-1], raw, state)


class WrongRaw(Broken):
    def broken(self, context, raw, state):
        return TrunkOutput(context, raw.transpose(0, 1), state)


class NotFinite(Broken):
    def broken(self, context, raw, state):
        return TrunkOutput((context - 2).log(), raw, state)


class ListState(Broken):
    def broken(self, context, raw, state):
        return TrunkOutput(context, raw, list(state))


class NoOutput(Broken):
    def broken(self, context, raw, state):
        return context, state


class WrongType(Broken):
    def broken(self, context, raw, state):
        return TrunkOutput(context.float(), raw, state)


class Raising(Broken):
    def broken(self, context, raw, state):
        raise IndexError("nothing there")


class Dropping(Window):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.dropout = nn.Dropout(0.5)

    def forward(self, vectors_TBE, state, regularisation=QUIET):
        return super().forward(self.dropout(vectors_TBE), state)


class Untrained(Window):
    def forward(self, *arguments):
        mix, self.mix = self.mix, nn.Parameter(self.mix.detach())
        output = super().forward(*arguments)
        self.mix = mix
        return output


class Forgetful(Window):
    def initial(self):
        return {}


class Misnamed(Window):
    def initial(self):
        return {"mix": uniform(1.0), "mixture": uniform(1.0)}


class Infinite(Window):
    def initial(self):
        return {"mix": uniform(float("inf"))}


class Unfinished(OwnTrunk):
    def __init__(self, *sizes):
        super().__init__()


class Plain(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
"""


@pytest.fixture
def module(outside):
    """The docs' module with trunks of which each has one flaw."""
    return outside(WINDOW + FLAWED)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("WrongShape", r"its context has the shape \(3, 2, 5\)\n  expected: the shape \(3, 2, 6\)"),
        ("WrongRaw", r"its raw output has the shape \(2, 3, 6\)"),
        ("NotFinite", "its context is not finite"),
        ("ListState", "its state has a list in it\n  expected: a tensor, or a tuple of states"),
        ("NoOutput", r"a window gives a tuple\n  expected: a repro.*\.TrunkOutput"),
        ("WrongType", r"its context is of type torch.float32\n  expected: torch.float64"),
        ("Raising", "it cannot run over a window: IndexError: nothing there"),
        ("Dropping", r"its context depends on train\(\) and eval\(\), or on random numbers"),
        ("Untrained", "no gradient reaches mix\n  expected: one for each parameter"),
        ("Forgetful", "no initial values for mix"),
        ("Misnamed", r"its initial\(\) fails: AttributeError: .*mixture"),
        ("Infinite", "the initial values of mix cannot be drawn: OverflowError"),
        ("Plain", "it makes no OwnTrunk, but a Plain"),
        ("Missing", "has no attribute 'Missing'"),
        ("Cubic", "it cannot be made with the model's sizes and its options: TypeError"),
    ],
)
def test_what_is_wrong_with_it_is_said_before_training(module, name, message):
    """One error that names the class and says what was expected; no traceback, no number."""
    with pytest.raises(DataError, match=message) as refused:
        small.built(small.model(trunk=own_window(module, name)), 30)
    assert str(refused.value).startswith(f"my_layers:{name}: ")
    assert "  to do: " in str(refused.value)


def test_an_unfinished_trunk_is_refused(module):
    """A class that gives nothing of what a trunk gives."""
    trunk = own(module, "Unfinished", parameters=0)
    with pytest.raises(DataError, match="it does not define forward, zero_state"):
        small.built(small.model(trunk=trunk), 30)


def test_another_version_is_refused(module):
    """An edited file has another digest, and the message has the line to write."""
    trunk = own_gru(module)
    module.write_text(module.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    with pytest.raises(DataError, match="its version here is sha256:") as refused:
        small.built(small.model(trunk=trunk), 30)
    assert f"write sha256:{file_digest(module)[:16]} in" in str(refused.value)


@pytest.mark.parametrize("text", ["import no_such_module", "1 / 0", "def"])
def test_a_module_that_cannot_be_imported_is_named(module, text):
    """Whatever its import raises is in the message, and what to do."""
    module.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"my_layers:Gru: .*\n  expected: an object in a mod"):
        small.built(small.model(trunk=own_gru(module)), 30)
