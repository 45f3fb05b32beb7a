"""An output layer from outside the package: the docs', in a folder of its own."""

from __future__ import annotations

import re

import pytest
import torch
import yaml
from torch.nn import functional as F

from repro.digest import file_digest
from repro.errors import DataError
from repro.trainers.language_model.spec import Own
from tests.trainers import small
from tests.trainers.outside import PAGE, SHIFTED, own
from tests.trainers.trainings import assert_same, resumed, trained


@pytest.fixture
def module(outside):
    """The docs' module with more layers."""
    return outside(SHIFTED)


def cubic(path, **changes):
    return own(path, "Cubic", options={"strength": 0.1}, **changes)


def test_the_readme_s_layer_computes_its_formula(module):
    """Log-probabilities and loss are those of the bent logits, by a class that lies elsewhere."""
    output = small.built(small.model(cubic(module)), 30).output
    assert type(output).__module__ == "my_layers"
    h = torch.randn(4, 3, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    z = h @ output.weight.T + output.bias
    expected = F.log_softmax(z + 0.1 * z**3, dim=-1)
    torch.testing.assert_close(output.log_probabilities(h), expected)
    loss = output.loss(h, torch.zeros(4, 3, dtype=torch.int64))
    torch.testing.assert_close(loss, -expected[..., 0].mean())


def test_the_readme_s_line_of_configuration_is_read(module):
    """The line as it stands names the layer, with the version and the option that it shows."""
    (line,) = re.findall(r"`output: (\{kind: own.*\})`", PAGE.read_text(encoding="utf-8"))
    spec = small.model(yaml.safe_load(line)).output
    assert spec == Own(use="my_layers:Cubic", version="1.0.2", options={"strength": 0.1})


def test_it_is_trained_and_goes_on_like_any_other(module, tmp_path):
    """Training loss falls; interrupted after an epoch and started again, the bits are the same."""
    run = small.run(cubic(module), small.rich_recipe())
    whole = trained(run)
    assert_same(resumed(run, tmp_path, 3, 1), whole)
    assert whole.history[-1].train_loss < whole.history[0].train_loss


def test_its_parameters_are_counted_trained_and_checked(module):
    """The stated number is in the model's count; another number than the layer's is refused."""
    right, wrong = own(module, "Shifted", parameters=2), own(module, "Shifted")
    assert small.model(right).parameters(30) == small.model().parameters(30) + 2
    result = trained(small.run(right))
    assert result.model.get_parameter("output.shift").any()
    with pytest.raises(DataError, match="it has 2 parameters beside the decoder's"):
        small.built(small.model(wrong), 30)


def test_name_version_and_options_are_in_the_key(module):
    """Each of them, changed alone, gives another run."""
    keys = {
        small.run(output).key
        for output in (
            cubic(module),
            own(module, "Cubic", options={"strength": 0.2}),
            own(module, "Cubics", options={"strength": 0.1}),
            cubic(module, version="1.0"),
        )
    }
    assert len(keys) == 4


def test_an_edited_module_is_refused(module):
    """The digest of the file is its version: with another one nothing is trained."""
    output = cubic(module)
    module.write_text(module.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"its version here is sha256:[0-9a-f]{16}") as refused:
        small.built(small.model(output), 30)
    assert f"write sha256:{file_digest(module)[:16]} in" in str(refused.value)


def test_an_installed_module_has_the_version_of_its_distribution(module):
    """The version is that of the package's metadata, whatever the file holds."""
    info = module.parent / "my_layers-1.0.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-layers\nVersion: 1.0.2\n")
    (info / "top_level.txt").write_text("my_layers\n")
    found = small.built(small.model(cubic(module, version="1.0.2")), 30)
    assert type(found.output).__name__ == "Cubic"
    with pytest.raises(DataError, match=r"version here is 1\.0\.2\n  expected: version 1\.0\.3"):
        small.built(small.model(cubic(module, version="1.0.3")), 30)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("no_such_module:Layer", "No module named 'no_such_module'"),
        ("my_layers:Missing", "has no attribute 'Missing'"),
        ("my_layers:linear", "it makes no OutputLayer, but a Linear"),
        ("itertools:chain", "no distribution and no file has no version"),
    ],
)
def test_what_is_not_there_or_is_no_layer_is_refused(module, use, message):
    """The message names the object and what is wrong with it."""
    with pytest.raises(DataError, match=message) as refused:
        small.built(small.model(own(module, "Cubic") | {"use": use}), 30)
    assert str(refused.value).startswith(use)


def test_whole_numbers_stay_whole_among_the_options():
    """A layer that counts something with an option is given an integer."""
    spec = Own(use="my_layers:Cubic", version="1", options={"pieces": 3, "strength": 0.5})
    read = Own.model_validate_json(spec.model_dump_json())
    assert [type(value) for value in read.options.values()] == [int, float]
