"""pydantic's errors in our words, for shapes that no claim file has yet."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from repro.cli.commands import schema_text
from repro.schema.messages import DISCRIMINATORS, PATTERNS, choose, closest, shown

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        (True, "true"),
        (3.5, "3.5"),
        ("a", "'a'"),
        ("a" * 50, "'" + "a" * 37 + "...'"),
        ([1], "a list"),
        ({}, "a mapping"),
    ],
)
def test_values_are_shown_short_and_in_the_words_of_yaml(value, text):
    """A message quotes a value so that its writer knows it again."""
    assert shown(value) == text


def test_a_guess_is_made_only_when_it_is_close():
    """An unlike word gets the list, not a wild guess."""
    assert closest("ratoi", ["bound", "ratio"]) == "ratio"
    assert closest("frobnicate", ["bound", "ratio"]) is None
    assert choose("ratoi", ["bound", "ratio"]) == "did you mean 'ratio'?"
    assert choose("frobnicate", ["bound", "ratio"]) == "choose one of these"


def test_loading_imports_nothing_heavy():
    """Reading claims needs neither torch nor numpy nor pandas."""
    heavy = "{'torch', 'numpy', 'pandas', 'scipy'}"
    code = f"import sys, repro.specs.load; print(*{heavy} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("name", ["audit", "claim", "configuration", "search"])
def test_every_form_of_a_text_has_words(name):
    """A text that is not well formed is explained, whichever pattern it breaks."""
    patterns = set(strings(json.loads(schema_text(name)), "pattern"))
    assert patterns
    assert patterns <= set(PATTERNS)


def strings(node: Any, key: str) -> Iterator[str]:
    """Every text under a key, anywhere in a document."""
    if isinstance(node, dict) and isinstance(node.get(key), str):
        yield node[key]
    for below in (
        node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    ):
        yield from strings(below, key)


def test_every_key_that_tells_the_members_of_a_union_apart_is_known():
    """So that a message can list them; one of no model of a file is left out."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "repro").rglob("*.py"))
    named = {
        key for text in sources for key in re.findall(r'\b(?:discriminator|field)="(\w+)"', text)
    }
    assert named == set(DISCRIMINATORS)
