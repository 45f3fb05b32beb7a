"""Documents -> models; pydantic's errors -> messages: where, what, expected, what to do."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Collection, Iterable
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError
from pydantic_core import ErrorDetails

from repro.errors import Problem, ShapeError
from repro.schema.base import (
    READ,
    UNREAD,
    ArgumentName,
    BesideName,
    ConfigurationId,
    CsvName,
    Decimal,
    DivergedPolicy,
    FileName,
    FilePattern,
    ImportPath,
    MemorySize,
    Name,
    ObjectName,
    OrderColumn,
    PartName,
    PrintedP,
    SettingPath,
    Sha256,
    TaskName,
    VariableName,
)
from repro.schema.yaml import Steps, YamlDocument


def pattern(text: Any) -> str:
    return str(get_args(text)[1].pattern)


def listed(options: Iterable[object]) -> str:
    """Options for the reader, in order."""
    words = [in_yaml(option) for option in options]
    return ("one of " if len(words) > 1 else "") + ", ".join(words)


def in_yaml(option: object) -> str:
    """An option as a claim file has it: `true` and `false` in small letters."""
    return str(option).lower() if isinstance(option, bool) else str(option)


def bare(annotation: Any) -> Any:
    """A type without its constraints, and without None as an alternative."""
    if get_origin(annotation) is Annotated:
        return bare(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        members = [member for member in get_args(annotation) if member is not type(None)]
        return bare(members[0]) if len(members) == 1 else annotation
    return annotation


def entry_type(container: Any) -> Any:
    """The type of the entries of a list or of the values of a mapping."""
    arguments = get_args(container)
    if get_origin(container) is dict:
        return arguments[1]
    return arguments[0] if get_origin(container) is tuple else Any


DISCRIMINATORS = ("kind", "method", "from_")
"""The fields by which the members of unions are told apart."""

NOUNS = {"from": "source"}
"""What a key is called in a message, if not by its name."""


def kinds(member: Any) -> tuple[object, ...]:
    """The values of its discriminator, or the tags, by which a member of a union is known."""
    tags = tuple(each.tag for each in getattr(member, "__metadata__", ()) if isinstance(each, Tag))
    if tags:
        return tags
    fields = getattr(member, "model_fields", {})
    key = next((key for key in DISCRIMINATORS if key in fields), None)
    return () if key is None else get_args(fields[key].annotation)


def all_kinds(union: Any) -> list[str]:
    """All kinds that a union tells apart."""
    named = [str(kind) for member in get_args(bare(union)) for kind in kinds(member)]
    return [kind for kind in named if kind not in (READ, UNREAD)]


def keys_of(model: Any) -> list[str]:
    """The keys of a mapping that a model reads."""
    fields = getattr(model, "model_fields", {})
    return [field.alias or name for name, field in fields.items()]


def description(annotation: Any) -> str:
    """What belongs at a missing key."""
    here = bare(annotation)
    if get_origin(here) is Literal:
        return listed(get_args(here))
    if get_origin(here) is tuple:
        return "a list"
    if get_origin(here) in {Union, UnionType}:
        *first, last = dict.fromkeys(description(member) for member in get_args(here))
        return f"{', '.join(first)} or {last}" if first else last
    if keys_of(here):
        return f"a mapping with the keys {', '.join(keys_of(here))}"
    return {str: "a text", int: "a whole number", float: "a number"}.get(here, "a mapping")


PATTERNS = {
    pattern(Name): (
        "a name of lower-case letters, digits and underscores, a letter first",
        "rename it",
    ),
    pattern(ConfigurationId): (
        "a configuration's path below configurations/, such as yang2018/ptb/mos",
        "write names joined by '/', without '.yaml'",
    ),
    ":": (
        "the module and class of a reader, such as my_readers:IniRuns",
        "write the module as it is imported, ':', and the class in it",
    ),
    pattern(ObjectName): (
        "module:object, such as my_package.layers:MyLayer",
        "write the module as it is imported, ':', and the name in it",
    ),
    pattern(SettingPath): (
        "the dotted path of a value of the model or the recipe, such as recipe.dropout.hidden",
        "write 'model.' or 'recipe.', and the keys that lead to the value",
    ),
    pattern(PartName): (
        "the name of a part of the model, such as output or trunk.layers.0",
        "write names joined by dots",
    ),
    pattern(Decimal): (
        'a number as it is printed, in quotes, such as "56.30"',
        "copy the number from the paper, without units",
    ),
    pattern(OrderColumn): (
        "the name of a column of a table, such as finished or created_at",
        "write it as the first line of the table has it",
    ),
    pattern(TaskName): (
        "the name of a task as the table has it, of at most 100 characters, no blank at its ends",
        "copy it from the table",
    ),
    pattern(CsvName): (
        "the name of a CSV file in the folder of this file, such as figure_2.csv",
        "write lower-case letters, digits and underscores, and '.csv'",
    ),
    pattern(FileName): (
        "the name of a file beside the claim, or in a folder there, such as results.csv",
        "write letters, digits, '.', '-' and '_', and '/' between folders",
    ),
    pattern(BesideName): (
        "the name of a file beside each, such as hparams.yaml or .hydra/config.yaml",
        "write letters, digits, '.', '-' and '_', and '/' between folders",
    ),
    pattern(ArgumentName): (
        "the name of an argument, such as lr or optimizer.name",
        "write letters, digits, '_', '.' and '-', a letter first",
    ),
    pattern(VariableName): (
        "the name of an environment variable, such as OMP_NUM_THREADS",
        "write letters, digits and '_', a letter first",
    ),
    pattern(FilePattern): (
        "a file below the folder, or a pattern of files, such as train.py or src/**/*.py",
        "write it from that folder on, without '..' and without '/' at its beginning",
    ),
    pattern(ImportPath): (
        "a path below the folder of this file, such as runs/{arm}/seed_{seed}/metrics.csv",
        "write it from that folder on; names in braces and * stand for a part of one name",
    ),
    pattern(MemorySize): ("a size such as 8 GB or 500 MB", "write a number, and GB or MB"),
    pattern(DivergedPolicy): (
        "one of invalid, worst, exclude<=k with a number for k",
        'write it in quotes, such as "exclude<=1"',
    ),
    pattern(PrintedP): (
        'a p-value as it is printed, in quotes, such as "2.7e-2" or "<0.001"',
        "copy the number from the paper; leave the key out where none is printed",
    ),
    pattern(Sha256): (
        "a SHA-256, 64 hexadecimal digits in lower case",
        "copy what sha256sum prints",
    ),
}
"""Texts of a certain form: what they are, and what to do."""

TYPES = {
    "bool_type": "true or false",
    "dict_type": "a mapping, `key: value` lines",
    "float_type": "a number",
    "int_type": "a whole number",
    "model_type": "a mapping, `key: value` lines",
    "model_attributes_type": "a mapping, `key: value` lines",
    "string_type": "a text",
    "tuple_type": "a list",
}
"""Types, by pydantic's name for the error."""

RETYPE = {
    ("bool_type", ""): "write true or false, without quotes",
    ("float_type", ""): "write a number",
    ("float_type", "text"): "write digits only, without quotes, units or separators",
    ("int_type", ""): "write a whole number",
    ("int_type", "number"): "write it without a decimal point and without an exponent",
    ("int_type", "text"): "write digits only, without quotes, units or separators",
    ("string_type", ""): "write a text",
    ("string_type", "number"): "put it in quotes, as it is printed",
    ("tuple_type", ""): "put it in brackets: [a, b]",
}
"""What to do about a wrong type, by what was written instead."""

LIMITS = {
    "greater_than": ("gt", "a number above"),
    "greater_than_equal": ("ge", "a number of at least"),
    "less_than": ("lt", "a number below"),
    "less_than_equal": ("le", "a number of at most"),
}
"""Limits of numbers: where pydantic keeps them, and how they are said."""

MOST = 200
"""No step reports more problems than this: nobody would read them."""

Words = tuple[str, str, str]
"""Mistake, expected, advice."""


def problems_of(
    error: ValidationError, root: Any, document: YamlDocument, before: Steps = ()
) -> list[Problem]:
    """Every mistake that pydantic found in a document, once, in our words.

    ``before`` leads to the part of the document that it read, the whole unless something is said.
    A misspelt key is one mistake, although pydantic finds an unknown key and a missing one.
    """
    errors = [e for e in error.errors(include_url=False) if not _is_echo(e)]
    found = [_Found(e, root, before) for e in errors[:MOST]]
    missing = {f.steps for f in found if f.kind == "missing"}
    meant: set[Steps] = set()
    problems: dict[tuple[Steps, str], Problem] = {}
    for each in sorted(found, key=lambda f: f.kind != "extra_forbidden"):
        if each.steps in document.damaged or each.steps in meant:
            continue
        if each.kind == "value_error" and not document.sound(each.steps):
            continue  # what does not fit together may be what could not be read
        if each.kind == "extra_forbidden":
            guess = each.guess({s[-1] for s in missing if s[:-1] == each.steps[:-1]})
            meant.add((*each.steps[:-1], guess or ""))
        problem = each.problem(document)
        key = (each.steps, "union" if each.in_union else str(problem))
        if key in problems:
            first = problems[key]
            expected = f"{first.expected}, or {problem.expected}"
            advice = problem.advice if "did you mean" in problem.advice else first.advice
            problem = Problem(first.place, first.what, expected, advice)
        problems[key] = problem
    return list(dict.fromkeys(problems.values()))


def _is_echo(error: ErrorDetails) -> bool:
    """Whether a container is called too short only because its entries are refused themselves."""
    least = error.get("ctx", {}).get("min_length", 0)
    return error["type"] == "too_short" and len(error["input"]) >= least


def closest(word: str, options: Iterable[object]) -> str | None:
    """The option that was probably meant."""
    likely = [str(option) for option in options][:60]
    matches = difflib.get_close_matches(word[:64], likely, 1, 0.6)
    return matches[0] if matches else None


def choose(word: str, options: Iterable[object]) -> str:
    """Advice on a word that is not among the options."""
    guess = closest(word, options)
    return f"did you mean '{guess}'?" if guess else "choose one of these"


def shown(value: Any) -> str:
    """A value as it is quoted in a message: short, and in the words of YAML."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    text = text if len(text) <= 40 else f"{text[:37]}..."
    return f"'{text}'" if isinstance(value, str) else text


def _nowhere(key: str) -> str:
    """A key of which nothing is known."""
    del key
    return ""


class _Found:
    """One error of pydantic, with the steps to it in the document and the type it belongs to."""

    def __init__(self, error: ErrorDetails, root: Any, before: Steps) -> None:
        self.kind = error["type"]
        self.input = error["input"]
        self.context: dict[str, Any] = error.get("ctx", {})
        self.message = error["msg"]
        self.in_union = False
        self.is_key = False
        self.keys: list[str] = []
        self.where_else: Callable[[str], str] = _nowhere
        self.steps = before
        self.type = self.holder = root
        for element in error["loc"]:
            self._step(element)
        if self.kind in {"union_tag_invalid", "union_tag_not_found"}:
            *_, alias = self.context["discriminator"].split(" | ")
            self.steps = (*self.steps, alias.strip("'()"))
        if self.kind == "missing" and self.steps and isinstance(self.steps[-1], int):
            self.steps, self.kind = self.steps[:-1], "missing_entry"

    def _step(self, element: str | int) -> None:
        """Follow one element of pydantic's location: a step, a member of a union, or a key."""
        here = bare(self.type)
        self.keys = []
        if element == "[key]":
            self.is_key = True
        elif get_origin(here) in {Union, UnionType}:
            members = [member for member in get_args(here) if element in kinds(member)]
            self.type = members[0] if members else Any
            self.in_union = not members
        else:
            self.steps = (*self.steps, element)
            if isinstance(here, type) and issubclass(here, BaseModel):
                fields = {field.alias or name: field for name, field in here.model_fields.items()}
                self.keys = list(fields)
                self.where_else = getattr(here, "where_else", _nowhere)
                self.type = fields[element].annotation if element in fields else Any
            else:
                self.holder, self.type = here, entry_type(here)

    def problem(self, document: YamlDocument) -> Problem:
        mistake, expected, advice = self._words(document)
        key = self.is_key or self.kind == "extra_forbidden"
        if self.kind in {"missing", "union_tag_not_found"}:
            place = document.key_place(self.steps[:-1])
        else:
            place = document.key_place(self.steps) if key else document.place(self.steps)
        name = document.name(self.steps)
        return Problem(place, f"{name}: {mistake}" if name else mistake, expected, advice)

    def guess(self, free: Collection[object]) -> str | None:
        """The key that an unknown one was meant to be: rather one that is still free."""
        word = str(self.steps[-1])
        return closest(word, (key for key in self.keys if key in free)) or closest(word, self.keys)

    def _words(self, document: YamlDocument) -> Words:
        if self.kind in {"extra_forbidden", "missing", "union_tag_not_found"}:
            return self._words_on_key(document)
        if self.kind in {"literal_error", "union_tag_invalid"}:
            return self._words_on_choice()
        if self.kind in LIMITS:
            limit, words = LIMITS[self.kind]
            expected = f"{words} {self.context[limit]:,g}"
            return f"{shown(self.input)} is out of range", expected, "change the number"
        if self.kind in TYPES:
            if self.input is None:
                advice = "fill it in" if self.in_union else self._retype()
                return "nothing is filled in", TYPES[self.kind], advice
            return f"{shown(self.input)} is of the wrong type", TYPES[self.kind], self._retype()
        return self._words_on_size()

    def _words_on_key(self, document: YamlDocument) -> Words:
        key = str(self.steps[-1])
        if self.kind == "extra_forbidden":
            guess = self.guess(set(self.keys) - set(document.get(*self.steps[:-1]) or ()))
            advice = f"did you mean '{guess}'?" if guess else "remove it, or use one of these keys"
            return "unknown key", listed(self.keys), self.where_else(key) or advice
        known = sorted(all_kinds(self.type)) if self.kind == "union_tag_not_found" else []
        expected = listed(known) if known else description(self.type)
        return "missing key", expected, f"add the line `{key}: ...` here"

    def _words_on_choice(self) -> Words:
        if self.kind == "union_tag_invalid":
            tag, known = self.context["tag"], sorted(all_kinds(self.type))
            noun = NOUNS.get(str(self.steps[-1]), self.steps[-1])
            return f"unknown {noun} {shown(tag)}", listed(known), choose(tag, known)
        options = get_args(bare(self.type)) or (self.context["expected"].strip("'"),)
        word = str(self.input)
        several = len(options) > 1 or closest(word, options)
        leave = "leave it out, or " if isinstance(options[0], bool) else ""
        advice = choose(word, options) if several else f"{leave}write {in_yaml(options[0])}"
        return f"unknown value {shown(self.input)}", listed(options), advice

    def _words_on_size(self) -> Words:
        context = self.context
        if self.kind == "string_pattern_mismatch":
            expected, advice = PATTERNS[context["pattern"]]
            return f"{shown(self.input)} is not well formed", expected, advice
        if self.kind == "string_too_short":
            least = f"at least {context['min_length']} characters"
            empty = not self.input.strip()
            what = "nothing is filled in" if empty else f"{shown(self.input)} is too short"
            return what, least, "fill it in" if empty else "say it in full"
        if self.kind == "string_too_long":
            most = f"at most {context['max_length']} characters"
            return f"a text of {len(self.input):,} characters", most, "shorten it"
        if self.kind in {"missing_entry", "too_long"}:
            most = context.get("max_length", len(get_args(self.holder)))
            sense = "at most" if Ellipsis in get_args(bare(self.type)) else "exactly"
            return f"entries: {len(self.input)}", f"{sense} {most}", "name as many"
        if self.kind == "too_short":
            some, least = len(self.input), context["min_length"]
            expected = f"at least {least}" if some else "at least one entry"
            return f"entries: {some}" if some else "it is empty", expected, "add an entry"
        said = self.message.removeprefix("Value error, ")
        return said, "values that fit together", "change one of them"

    def _retype(self) -> str:
        number = isinstance(self.input, int | float) and not isinstance(self.input, bool)
        sort = "number" if number else "text" if isinstance(self.input, str) else ""
        advice = RETYPE.get((self.kind, sort)) or RETYPE.get((self.kind, ""))
        if advice:
            return advice
        keys = ", ".join(keys_of(bare(self.type)))
        return f"its keys are {keys}" if keys else "write its keys on the lines below"


Model = TypeVar("Model", bound=BaseModel)


def validated(document: YamlDocument, model: type[Model]) -> Model:
    """The document as a model; ShapeError with what is wrong as YAML and as this model."""
    problems = list(document.problems)
    try:
        value = model.model_validate_json(json.dumps(document.data))
    except ValidationError as error:
        problems += problems_of(error, model, document)
        raise ShapeError(list(dict.fromkeys(problems))) from None
    if problems:
        raise ShapeError(problems)
    return value
