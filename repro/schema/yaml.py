"""Text -> data and places: the part of YAML 1.2 that claim files are written in.

Scalars follow the core schema of YAML 1.2 (``no`` is a text, ``1e-3`` a number). What a reader
could take in two ways, or what could make a small file large, is refused: tags, anchors and
aliases, duplicate keys, keys that are not texts, numbers with leading zeros, several documents.
The text is read as a stream of events, so that a hostile one is left at its first excess.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from repro.errors import Place, Problem, ShapeError
from repro.files import fatal, place_of_offset, read_text

MAX_DIGITS = 40
Scalar = str | int | float | bool | None
_NULL = {"", "~", "null", "Null", "NULL"}
_TRUE = {"true", "True", "TRUE"}
_FALSE = {"false", "False", "FALSE"}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def plain_scalar(text: str) -> Scalar:
    """The value of a scalar without quotes; raises ValueError(mistake, expected, advice)."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} is not a finite number", "a finite number", "write a number")
    if _INTEGER.fullmatch(text):
        _refuse_long(text)
        digits = text.lstrip("+-")
        if digits[0] == "0" and digits.isdecimal() and len(digits) > 1:
            raise ValueError(
                f"the number {text} starts with a zero, which some readers take for octal",
                "a number without leading zeros",
                f'write {int(text)}, or "{text}" in quotes if it is a text',
            )
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        _refuse_long(text)
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(
                f"{text} is too large", "a number below 1.8e308", "write a smaller one"
            )
        return value
    return text


def _refuse_long(text: str) -> None:
    if len(text) > MAX_DIGITS:
        raise ValueError(
            f"a number of {len(text):,} characters",
            f"at most {MAX_DIGITS} characters",
            "write fewer digits, or put it in quotes if it is a text",
        )


MAX_DEPTH = 40
MAX_NODES = 5_000

Steps = tuple[str | int, ...]
"""The way to a value from the top: keys and positions."""

_FORBIDDEN = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\ufffd"
    "\U00010000-\U0010ffff]"
)

_BEYOND_UNICODE = re.compile(r"\\U(?!00(0|10))[0-9a-fA-F]{8}")

# What PyYAML says, and what the writer most probably did.
_SYNTAX = (
    ("'\\t'", "indent with blanks, not with tabs"),
    ("cannot start any token", "put a text that starts with this character in quotes"),
    ("mapping values are not allowed", "put a text that holds ': ' in quotes; check the indent"),
    ("expected ':'", "write `key: value`; check the indent of this line"),
    ("unexpected end of stream", "close the quotes"),
    ("expected ','", "close the bracket, or put a comma between the entries"),
    ("expected <block end>", "give the keys of one mapping the same indent"),
)


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A file's data, with the place of every value and of every key.

    ``problems`` are the mistakes that reading could go on after. The values they leave out are
    ``damaged``: nothing else should be said about those.
    """

    file: str
    data: dict[str, Any]
    places: Mapping[Steps, Place]
    key_places: Mapping[Steps, Place]
    problems: tuple[Problem, ...] = ()
    damaged: frozenset[Steps] = frozenset()

    def sound(self, steps: Steps) -> bool:
        """Whether nothing in the value is damaged."""
        return not any(damage[: len(steps)] == steps for damage in self.damaged)

    def place(self, steps: Steps) -> Place:
        """The place of a value, or of the nearest one that encloses it."""
        while steps and steps not in self.places:
            steps = steps[:-1]
        return self.places.get(steps, Place(self.file))

    def key_place(self, steps: Steps) -> Place:
        """The place of a key; of the value, where there is no key, as in a list."""
        return self.key_places.get(steps) or self.place(steps)

    def get(self, *steps: str | int) -> Any:
        """The value at the end of the steps, or None."""
        value: Any = self.data
        for step in steps:
            inside = isinstance(value, dict) and step in value
            inside = inside or (isinstance(value, list) and step in range(len(value)))
            if not inside:
                return None
            value = value[step]
        return value

    def name(self, steps: Steps) -> str:
        """The dotted name of a value: entries of lists by their id, or else as #1, #2, ..."""
        words = []
        for position, step in enumerate(steps):
            known = self.get(*steps[: position + 1], "id") if isinstance(step, int) else step
            words.append(known if isinstance(known, str) else f"#{int(step) + 1}")
        return ".".join(words)

    def problem(
        self,
        steps: Steps,
        mistake: str,
        expected: str,
        advice: str,
        *,
        at: Steps = (),
        key: bool = False,
    ) -> Problem:
        """A mistake in the value at the end of the steps; ``at`` inside it, or at the key there."""
        place = (self.key_place if key else self.place)((*steps, *at))
        return Problem(place, f"{self.name(steps)}: {mistake}", expected, advice)


def read_document(path: Path) -> YamlDocument:
    """Read a file; raises ShapeError when there is nothing to go on with."""
    return parse_document(read_text(path), str(path))


def parse_document(text: str, file: str) -> YamlDocument:
    """Read a text; ``file`` is what places call it."""
    found = _FORBIDDEN.search(text)
    if found:
        place = place_of_offset(text, found.start(), file)
        raise fatal(
            place,
            f"character U+{ord(found[0]):04X} is not allowed",
            "visible characters, blanks and line ends",
            "remove it" if found.start() else "save the file as UTF-8 without a byte-order mark",
        )
    builder = _Builder(text, file)
    try:
        return builder.document()
    except yaml.MarkedYAMLError as error:
        raise ShapeError([*builder.problems, _syntax(error, file)]) from None
    except (ValueError, OverflowError):  # from chr()
        beyond = _BEYOND_UNICODE.search(text)
        place = place_of_offset(text, beyond.start() if beyond else 0, file)
        mistake, expected = "an escape that names no character", "characters of Unicode"
        raise fatal(place, mistake, expected, r"correct the \U in quotes") from None


class _Builder:
    """Builds the data of one document from the events of PyYAML's pure-Python parser."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.events = yaml.parse(text, Loader=yaml.SafeLoader)
        self.problems: list[Problem] = []
        self.damaged: set[Steps] = set()
        self.places: dict[Steps, Place] = {}
        self.key_places: dict[Steps, Place] = {}
        self.nodes = 0
        self.anchors: set[str] = set()

    def document(self) -> YamlDocument:
        next(self.events)
        start = next(self.events)
        if isinstance(start, yaml.StreamEndEvent):
            raise fatal(Place(self.file), "the file is empty", "a mapping", "write the claim")
        if isinstance(start, yaml.DocumentStartEvent) and (start.version or start.tags):
            place = self.place(start)
            raise fatal(place, "a YAML directive (%)", "plain YAML 1.2", "remove the directive")
        top = next(self.events)
        data = self.value(top, ())
        next(self.events)
        after = next(self.events)
        if not isinstance(after, yaml.StreamEndEvent):
            place = self.place(after)
            advice = "remove the line '---', or make two files"
            raise fatal(place, "a second document", "one document a file", advice)
        if not isinstance(data, dict):
            message = ("the file is not a mapping", "`key: value` lines", "start with `schema: 1`")
            raise ShapeError([*self.problems, Problem(self.place(top), *message)])
        problems, damaged = tuple(self.problems), frozenset(self.damaged)
        return YamlDocument(self.file, data, self.places, self.key_places, problems, damaged)

    def value(self, event: yaml.Event, steps: Steps) -> Any:
        place = self.places[steps] = self.place(event)
        self.nodes += 1
        if len(steps) > MAX_DEPTH:
            limit = f"at most {MAX_DEPTH} levels"
            raise fatal(place, "nested too deeply", limit, "write it flatter")
        if self.nodes > MAX_NODES:
            limit = f"at most {MAX_NODES:,} values"
            raise fatal(place, "too many values", limit, "make several files of it")
        self.refuse_references(event, steps)
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(steps)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.sequence(steps)
        return self.scalar(event, steps) if isinstance(event, yaml.ScalarEvent) else None

    def mapping(self, steps: Steps) -> dict[str, Any]:
        result: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            place = self.place(event)
            key = self.key(event, steps)
            here = (*steps, key if key is not None and key not in result else f"{key} (again)")
            self.key_places.setdefault(here, place)
            value = self.value(next(self.events), here)
            if key is None:
                continue
            if key in result:
                first = self.key_places[(*steps, key)].line
                mistake = f"duplicate key '{key}', first on line {first}"
                advice = "remove one of the two, or rename it"
                self.problems.append(Problem(place, mistake, "every key once", advice))
            else:
                result[key] = value
        return result

    def key(self, event: yaml.Event, steps: Steps) -> str | None:
        before = len(self.problems)
        value = self.value(event, (*steps, "(key)"))
        self.damaged.discard((*steps, "(key)"))
        if isinstance(value, str):
            return value
        if len(self.problems) == before:
            shown = event.value if isinstance(event, yaml.ScalarEvent) else "a list or a mapping"
            mistake = f"a key must be a text, and this is not one: {shown or 'nothing'}"
            advice = "put the key in quotes, or use a name"
            self.problems.append(Problem(self.place(event), mistake, "a text as key", advice))
        return None

    def sequence(self, steps: Steps) -> list[Any]:
        result: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            result.append(self.value(event, (*steps, len(result))))
        return result

    def scalar(self, event: yaml.ScalarEvent, steps: Steps) -> Scalar:
        found = _FORBIDDEN.search(event.value)
        if found:
            mistake = f"character U+{ord(found[0]):04X} is not allowed"
            self.refuse(event, steps, mistake, "visible characters", "remove the escape")
            return None
        if event.style is not None:
            return str(event.value)
        try:
            return plain_scalar(event.value)
        except ValueError as error:
            self.refuse(event, steps, *error.args)
            return None

    def refuse_references(self, event: yaml.Event, steps: Steps) -> None:
        anchor = getattr(event, "anchor", None)
        alias = isinstance(event, yaml.AliasEvent)
        if alias:
            self.damaged.add(steps)
        if anchor and anchor not in self.anchors:  # said once, however often it is used
            self.anchors.add(anchor)
            mistake = f"alias *{anchor}" if alias else f"anchor &{anchor}"
            advice = f"write the value out wherever *{anchor} stands"
            self.refuse(event, steps, mistake, "no anchors and no aliases", advice)
        tag = getattr(event, "tag", None)
        if tag:
            shown = str(tag).replace("tag:yaml.org,2002:", "!!")
            advice = "remove it; quotes make a text of anything"
            self.refuse(event, steps, f"tag {shown}", "no tags", advice)

    def refuse(
        self, event: yaml.Event, steps: Steps, mistake: str, expected: str, advice: str
    ) -> None:
        self.damaged.add(steps)
        self.problems.append(Problem(self.place(event), mistake, expected, advice))

    def place(self, event: yaml.Event) -> Place:
        return _place_of_mark(event.start_mark, self.file)


def _syntax(error: yaml.MarkedYAMLError, file: str) -> Problem:
    """PyYAML's message with our advice; an unclosed quote is reported where it opens."""
    said = error.problem or error.context or "unreadable"
    mark = error.problem_mark or error.context_mark
    if error.context and error.context_mark:
        if "end of stream" in said:
            mark = error.context_mark
        said = f"{said}, {error.context} from line {error.context_mark.line + 1}"
    advice = (advice for words, advice in _SYNTAX if words in said)
    default = "compare this line with a claim that loads"
    place = _place_of_mark(mark, file)
    return Problem(place, f"not YAML: {said}", "YAML 1.2", next(advice, default))


def _place_of_mark(mark: Any, file: str) -> Place:
    return Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
