"""The names of users' own parts: one page of them, and the paths that they had before."""

import subprocess
import sys
from importlib import import_module

import pytest

import repro.extend
from repro.extend import MOVED

BEFORE = {
    "OutputLayer": "repro.lm.output.base",
    "OwnTrunk": "repro.lm.own_trunk",
    "PointwiseOutput": "repro.lm.output.pointwise",
    "TrunkOutput": "repro.lm.awd_lstm",
    "linear": "repro.lm.precision",
    "uniform": "repro.lm.initialisation",
}


@pytest.mark.parametrize("name", BEFORE)
def test_the_old_path_of_a_name_warns_and_gives_the_same_object(name):
    for old in MOVED:
        sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=r"import from repro\.extend"):
        module = import_module(BEFORE[name])
    assert getattr(module, name) is getattr(repro.extend, name)


def test_every_name_on_the_page_can_be_imported():
    assert {name: getattr(repro.extend, name) for name in repro.extend.__all__}


def test_a_name_that_is_not_on_the_page_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'repro\.extend' has no attribute 'Nothing'"):
        _ = repro.extend.Nothing


def test_the_page_itself_loads_no_torch():
    code = "import repro.extend, sys; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
