"""The part of YAML 1.2 that is read, and how the rest is refused."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repro.errors import SpecError
from repro.files import MAX_BYTES
from repro.schema.yaml import MAX_DEPTH, MAX_NODES, parse_document, read_document
from repro.specs.load import load_claim

SCALARS = [
    ("no", "no"),
    ("yes", "yes"),
    ("on", "on"),
    ("Off", "Off"),
    ("y", "y"),
    ("true", True),
    ("False", False),
    ("TRUE", True),
    ("tRUE", "tRUE"),
    ("null", None),
    ("~", None),
    ("", None),
    ("none", "none"),
    ("0", 0),
    ("10", 10),
    ("-3", -3),
    ("+3", 3),
    ("0x10", 16),
    ("0o10", 8),
    ("0b11", "0b11"),
    ("1_000", "1_000"),
    ("12:30", "12:30"),
    ("2020-01-01", "2020-01-01"),
    ("1e-3", 0.001),
    ("1E5", 100000.0),
    ("1e3", 1000.0),
    (".5", 0.5),
    ("5.", 5.0),
    ("-0.5e+1", -5.0),
    ("1.2.3", "1.2.3"),
    ("1,000", "1,000"),
    ('"3.20"', "3.20"),
    ("'010'", "010"),
    ('"true"', "true"),
    ("'it''s'", "it's"),
    ('"a\\tb"', "a\tb"),
    ("é – ü", "é – ü"),
    ("=", "="),
    ("<<", "<<"),
]


def refused(text: str) -> SpecError:
    with pytest.raises(SpecError) as caught:
        parse_document(text, "x.yaml")
    return caught.value


def what(text: str) -> list[str]:
    """What is wrong with a document, and where."""
    try:
        problems = parse_document(text, "x.yaml").problems
    except SpecError as error:
        problems = error.problems
    return [f"{problem.place}: {problem.what}" for problem in problems]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_scalars_follow_yaml_1_2(text, value):
    """A scalar without quotes is what the core schema of YAML 1.2 says, and no more."""
    read = parse_document(f"key: {text}\n", "x.yaml").data["key"]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("text", ["010", "-007", "00", ".inf", "-.INF", ".nan", "1e999", "9" * 41])
def test_numbers_that_can_be_misread_are_refused(text):
    """Leading zeros, infinities, NaN and endless digits need a decision, or quotes."""
    document = parse_document(f"key: {text}\nother: 1\n", "x.yaml")
    (problem,) = document.problems
    assert str(problem.place) == "x.yaml:1:6"
    assert document.damaged == {("key",)}
    assert document.data["other"] == 1


def test_block_texts_are_read():
    """Literal and folded texts keep and join their lines."""
    data = parse_document("a: |\n  x\n  y\nb: >-\n  x\n  y\n", "x.yaml").data
    assert data == {"a": "x\ny\n", "b": "x y"}


def test_every_value_and_key_has_its_place():
    """Lines and columns count from 1."""
    document = parse_document("a:\n  - b: 1\n    c: [x, yz]\n", "x.yaml")
    assert str(document.place(("a", 0, "c", 1))) == "x.yaml:3:12"
    assert str(document.key_place(("a", 0, "c"))) == "x.yaml:3:5"
    assert str(document.place(("a", 0, "nowhere", 7))) == "x.yaml:2:5"


def test_names_of_values_use_ids():
    """An entry of a list is called by its id, or else by its number."""
    document = parse_document("a: [{id: first}, {b: 1}]\n", "x.yaml")
    assert document.name(("a", 0, "id")) == "a.first.id"
    assert document.name(("a", 1, "b")) == "a.#2.b"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("a: 1\nb: 2\na: 3\n", ["x.yaml:3:1: duplicate key 'a', first on line 1"]),
        ('"a": 1\na: 3\n', ["x.yaml:2:1: duplicate key 'a', first on line 1"]),
        ("a: !!str 1\n", ["x.yaml:1:4: tag !!str"]),
        ("a: ! 1\n", ["x.yaml:1:4: tag !"]),
        ("a: !x [1]\n", ["x.yaml:1:4: tag !x"]),
        ("a: &b 1\nc: *b\nd: *b\n", ["x.yaml:1:4: anchor &b"]),
        ("a: *b\n", ["x.yaml:1:4: alias *b"]),
        ("1: a\n", ["x.yaml:1:1: a key must be a text, and this is not one: 1"]),
        ("~: a\n", ["x.yaml:1:1: a key must be a text, and this is not one: ~"]),
        ("true: a\n", ["x.yaml:1:1: a key must be a text, and this is not one: true"]),
        ("a: 1\n--- \nb: 1\n", ["x.yaml:2:1: a second document"]),
        ("", ["x.yaml:1:1: the file is empty"]),
        ("# a remark\n", ["x.yaml:1:1: the file is empty"]),
        ("---\n", ["x.yaml:2:1: the file is not a mapping"]),
        ("text\n", ["x.yaml:1:1: the file is not a mapping"]),
        ("a: 1\nb: \x00\n", ["x.yaml:2:4: character U+0000 is not allowed"]),
        ("\ufeffa: 1\n", ["x.yaml:1:1: character U+FEFF is not allowed"]),
        ("a: \u2028\n", ["x.yaml:1:4: character U+2028 is not allowed"]),
        ('a: "\\0"\n', ["x.yaml:1:4: character U+0000 is not allowed"]),
        ("%TAG ! x\n---\na: 1\n", ["x.yaml:1:1: a YAML directive (%)"]),
    ],
)
def test_what_can_be_taken_in_two_ways_is_refused(text, problems):
    """Each such thing is one problem, with its place."""
    assert what(text) == problems


def test_reading_goes_on_after_a_mistake():
    """Mistakes that do not end the reading are all reported."""
    assert len(what("a: 010\na: .inf\nb: !x 1\n2: &c 3\n")) == 6


def test_a_bomb_of_aliases_costs_nothing():
    """Aliases are refused, so that nothing is ever multiplied."""
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    start = time.process_time()
    assert len(what("\n".join(lines))) == 30
    assert time.process_time() - start < 1


@pytest.mark.parametrize("opening", ["[", "{", "- ", "? ", "a: {", "[{a: "])
def test_deep_nesting_is_refused_at_once(opening):
    """Fifty thousand brackets are left at the first one too many."""
    start = time.process_time()
    assert "nested too deeply" in str(refused(opening * 50_000))
    assert time.process_time() - start < 2


def test_the_limits_are_limits():
    """What is just allowed is read, and one more is refused."""
    deep = MAX_DEPTH - 1
    assert parse_document("a: " + "[" * deep + "]" * deep, "x.yaml").problems == ()
    assert "nested" in str(refused("a: " + "[" * (deep + 2) + "]" * (deep + 2)))
    assert "too many values" in str(refused("a:\n" + "- 1\n" * MAX_NODES))


def test_large_files_are_refused(tmp_path):
    """A file above the limit is refused before it is parsed."""
    file = tmp_path / "large.yaml"
    file.write_text("a: 1\n" + "#" * MAX_BYTES)
    with pytest.raises(SpecError, match="too large"):
        read_document(file)


BRACKETS = st.text(st.sampled_from("[]{}:,-?&*!|>'\"%@#\n\t ax01.~<"), max_size=200)
NESTED = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=30,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.text(max_size=200) | BRACKETS | NESTED.map(repr))
def test_any_text_is_read_or_refused(text):
    """No text makes the reader raise anything but SpecError, or take long."""
    start = time.process_time()
    assert isinstance(what(text), list)
    assert time.process_time() - start < 2


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    """No file makes the loader raise anything but SpecError."""
    file = tmp_path_factory.getbasetemp() / "fuzz.yaml"
    file.write_bytes(data)
    with pytest.raises(SpecError):
        load_claim(file, "quick")
