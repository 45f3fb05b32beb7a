"""Writes the pages that are generated: keys of files, command line, what stands of a paper.

`python docs/generate.py` writes them again; a test compares them with what it would write.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import controls
import gallery
import library
import papers
import speedruns
import typer
from typer.models import ArgumentInfo, OptionInfo

from repro.cli import app

ROOT = Path(__file__).parents[1]
NAME = "^[a-z][a-z0-9_]{0,63}$"

CLAIM = """# Keys of a claim file

Generated from `claims/claim.schema.json`, which checks and completes a claim file in an editor.
Keys that are not listed are refused. [The claim file](claim-file.md) says what they are for;
[your first claim](../tutorial/first-claim.md) is a whole one.

A *name* has lower-case letters, digits and underscores. Printed numbers are texts in quotes,
because YAML turns 3.20 into 3.2.
"""

PARTS: Mapping[str, Sequence[str]] = {
    "Where the claim is printed": (
        "PrintedSource",
        "AuthorSource",
    ),
    "Sides of the comparison": ("ArmSpec", "PublishedArm", "Comparable", "SourceOfOthers"),
    "Results that are imported": (
        *("Files", "Mlflow", "TensorBoard", "Wandb", "Trackio", "Inspect", "LmEval"),
        "ThirdPartyImporter",
    ),
    "How many seeds": ("Seeds", "PlannedSd", "PlannedReach", "Forced", "NegativeControl"),
    "What is measured": (
        *("Reported", "BestBy", "AtRow", "Censored", "DerivedMeasurement"),
        *("Perplexity", "Dynamic", "GeneralisationGap", "KlFromTruth"),
        *(
            "Rank",
            "NoisyRank",
            "CentredSpectrum",
            "Spectral",
            "PairwiseKl",
            "HitRate",
            "WordSimilarity",
            "Flops",
        ),
        *("Bleu", "Beam", "OthersMeasurement"),
    ),
    "What is expected of the arms": (
        *("Difference", "Equivalence", "NonSuperiority", "NonInferiority", "Ratio", "Separation"),
        *("Level", "Spread", "Survivals", "Bound"),
        *("Association", "Trend", "Ordering", "Proportion"),
        *("WithinReference", "ItemsDifference", "OverTasks", "MetaAnalysis", "OthersExpectation"),
    ),
    "Sizes and their reasons": (
        *("Margin", "ShareOfGain", "LeastRatio", "Factor", "Limit", "KnownSd", "Folds"),
        *("Share", "Magnitude", "Window"),
    ),
    "Joining expectations and claims": ("All", "AtLeastOne", "Family"),
    "Looking more than once": ("EProcess", "GroupSequential"),
    "Controls": ("RankBound", "KnownRank", "EntropyFloor"),
    "What the paper printed": ("Published", "ComparedArm"),
    "What each scale changes": ("Scale", "ExpectationOverride", "Expect"),
}
"""The definitions of the schema, in the order in which a stranger meets them."""

CONFIGURATION = """# Keys of a configuration

Generated from `claims/configuration.schema.json`. A configuration says what is trained. It is a
file in a folder `configurations/`, which arms name, or the mapping `configuration` of
[a claim](claim-keys.md), which needs no `schema`, `title` and `source`. `trainer` may be left out
where the other keys tell which it is. Keys that are not listed are refused.

[Run your own training code](../how-to/run-your-training-code.md) is about programs, and
[models](models.md) about output layers and recipes.
"""

PARTS_OF_A_CONFIGURATION: Mapping[str, Sequence[str]] = {
    "What is trained": (
        *("CommandTrainingConfiguration", "Configuration", "DialogConfiguration"),
        *("OthersConfiguration", "Tuning"),
    ),
    "Programs": ("Results", "Resume", "Resources"),
    "Language models": ("Model", "Softmax", "SigSoftmax", "Gss", "MoC", "MoS", "Plif", "Own"),
    "Recipes": (
        *("Recipe", "WindowLength", "Dropout", "NoAveraging", "NonMonotonic", "FromEpoch"),
        *("Finetuning", "Stop"),
    ),
    "Texts and languages": ("TextCorpus", "SyntheticCorpus", "SplitTokens", "Digests"),
    "Dialog models": (
        *("Seq2Seq", "DialogCorpus", "SplitResponses", "DialogRecipe", "DialogDropout", "Adam"),
    ),
}

ABOUT = {
    "Results that are imported": "`where` keeps the runs whose fields have these values, such as "
    "`{group: mixup}`. `seed` and `task` name the fields that are the seed and the task. Two runs "
    "with one seed are refused; `duplicates: last` takes the later one. "
    "[Import results](../how-to/import-results.md) has examples.",
}
"""What the parts of a group have in common, where they do not say it themselves."""

WORDS = {
    "CommandTrainingConfiguration": "A program",
    "Configuration": "A language model",
    "DialogConfiguration": "A dialog model",
    "OthersConfiguration": "A trainer of your own",
    "AuthorSource": "Source of your own",
    "KnownSd": "Known standard deviation",
    "OthersExpectation": "Expectation of your own",
    "OthersMeasurement": "Measurement of your own",
    "PlannedSd": "Planned standard deviation",
    "SourceOfOthers": "Evidence of your own",
    "ThirdPartyImporter": "A reader of your own",
}
"""Definitions whose names would not tell a reader what they are."""

KNOWN = {
    "configuration": "path below `configurations/`, without its ending",
    "table": "CSV file in the folder of the claim, or below it",
    "diverged": "`invalid`, `worst` or `exclude<=k`",
    "order": "column of the table",
}
"""Keys whose values a pattern describes, in words."""

HUGE = 10**9
"""Limits that nobody meets are not shown."""

COMMANDS = """# Command line

Generated from the program. [Commands](commands.md) is the short list, and [exit
statuses](exit-status.md) says how each command ends. In a checkout `./dev COMMAND` is
`repro COMMAND` in an environment of its own.
"""


def claim_keys() -> str:
    """The page about claim files."""
    schema = _schema("claim")
    pages = [CLAIM, "## The file", *_described(schema), *_table(schema)]
    return _page(_linked([*pages, *_parts(schema, PARTS)], schema["$defs"]))


def configuration_keys() -> str:
    """The page about configurations."""
    schema = _schema("configuration")
    pages = [CONFIGURATION, *_parts(schema, PARTS_OF_A_CONFIGURATION)]
    return _page(_linked(pages, schema["$defs"]))


def _schema(name: str) -> dict[str, Any]:
    text = (ROOT / f"claims/{name}.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _parts(schema: Mapping[str, Any], parts: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Every definition, by its part; those that no part names come last."""
    definitions = schema["$defs"]
    placed = {name for names in parts.values() for name in names}
    for title, names in {**parts, "Further": sorted(set(definitions) - placed)}.items():
        known = [name for name in names if name in definitions]
        if known:
            yield from (f"## {title}", *filter(None, [ABOUT.get(title)]))
        for name in known:
            definition = definitions[name]
            yield f"### {title_of(definition)}"
            yield from (*_described(definition), *_table(definition))


def title_of(definition: Mapping[str, Any]) -> str:
    """What a reader calls a definition: its `kind`, `method` or `from`, or its name in words."""
    for key in ("kind", "method", "from"):
        constant = definition["properties"].get(key, {}).get("const")
        if constant is not None:
            return str(constant)
    title = definition["title"]
    words = WORDS.get(title) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", title)
    return words.removesuffix(" Spec").capitalize()


def _linked(pages: Sequence[str], definitions: Mapping[str, Any]) -> Iterator[str]:
    """The pages with every `<<Definition>>` as a link to its heading."""

    def link(match: re.Match[str]) -> str:
        title = title_of(definitions[match[1]])
        return f"[{title}](#{title.lower().replace(' ', '-')})"

    for page in pages:
        yield re.sub(r"<<(\w+)>>", link, page)


def command_line() -> str:
    """The page about the command line."""
    return _page([COMMANDS, *(part for one in _commands(app, "repro") for part in one)])


def _commands(program: typer.Typer, name: str) -> Iterator[list[str]]:
    """The parts of each command, those of a group after the others."""
    for one in program.registered_commands:
        if one.callback is not None:
            yield _command(one.callback, f"{name} {one.name or one.callback.__name__}")
    for group in program.registered_groups:
        if group.typer_instance is not None:
            own = group.name or group.typer_instance.info.name
            yield from _commands(group.typer_instance, f"{name} {own}")


def _command(function: Callable[..., Any], name: str) -> list[str]:
    """One command: usage, what it does, a row per argument and option."""
    arguments, rows = [], []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        kind, info = get_args(parameter.annotation)[:2]
        needed = parameter.default is parameter.empty
        if isinstance(info, ArgumentInfo):
            shown = _argument(parameter.name, kind, info, needed=needed)
            arguments.append(shown)
        else:
            shown = _option(parameter.name, kind, info)
        again = " May be given several times." if shown.startswith("--") and _several(kind) else ""
        default = "*required*" if needed else _default(parameter.default, info)
        rows.append(f"| `{shown}` | {default} | {_cell(info.help)}{again} |")
    usage = " ".join([name, *arguments, "[OPTIONS]"]).replace("\\|", "|")
    table = ["| argument or option | default | what |", "|---|---|---|", *rows]
    return [f"## {name}", inspect.cleandoc(function.__doc__ or ""), _code(usage), "\n".join(table)]


def _argument(name: str, kind: Any, info: ArgumentInfo, *, needed: bool) -> str:
    """`CLAIMS...`, in brackets where it may be left out."""
    shown = _values(kind) if get_origin(kind) is Literal else name.upper()
    shown = _cell(info.metavar) or shown + ("..." if _several(kind) else "")
    return shown if needed else f"[{shown}]"


def _several(kind: Any) -> bool:
    """Whether it may be given more than once."""
    return list in (get_origin(each) for each in (kind, *get_args(kind)))


def _option(name: str, kind: Any, info: OptionInfo) -> str:
    """`--scale quick|bench|paper`; a switch has no value."""
    declared = [info.default, *(info.param_decls or ())]
    flags = [one for one in declared if isinstance(one, str) and one.startswith("-")]
    shown = ", ".join(flags) or f"--{name.replace('_', '-')}"
    if kind is bool:
        return shown
    return f"{shown} {_cell(info.metavar) or _values(kind)}"


def _values(kind: Any) -> str:
    """The values of an option: those of a choice, or their type in capitals."""
    if get_origin(kind) is Literal:
        return "\\|".join(get_args(kind))
    (first, *_) = [each for each in get_args(kind) if each is not NoneType] or [kind]
    if get_origin(first) in (Literal, list):
        return _values(first)
    return {int: "N", float: "NUMBER", Path: "PATH"}.get(first, "TEXT")


def _default(default: Any, info: Any) -> str:
    """The default, and the variable that replaces it."""
    found = [f"`${info.envvar}`"] if info.envvar else []
    if isinstance(default, str | Path | int) and not isinstance(default, bool):
        found.append(f"`{default}`")
    return " or ".join(found) or ("yes" if default is True else "")


def _cell(text: str | None) -> str:
    """A text on one line, safe in a table."""
    return " ".join((text or "").split()).replace("|", "\\|")


def _code(text: str) -> str:
    return f"```text\n{text}\n```"


def _described(definition: Mapping[str, Any]) -> list[str]:
    """What a definition says of itself, in Markdown."""
    text = definition.get("description", "").replace("``", "`").replace("*", "\\*")
    return [text] if text else []


def _table(definition: Mapping[str, Any]) -> list[str]:
    """The keys of a mapping, those that must be there first."""
    needed = definition.get("required", ())
    properties = definition["properties"]
    order = sorted(properties, key=lambda key: key not in needed)
    rows = [_row(key, properties[key], needed=key in needed) for key in order]
    return ["\n".join(["| key | value | default |", "|---|---|---|", *rows])]


def _row(key: str, value: Mapping[str, Any], *, needed: bool) -> str:
    default = value.get("default")
    if needed:
        shown = "*required*"
    elif default in (None, [], {}) or isinstance(default, dict):
        shown = ""
    else:
        shown = f"`{json.dumps(default)}`".replace('"', "")
    words = KNOWN.get(key) if '"pattern"' in json.dumps(value) else None
    return f"| `{key}` | {words or _value(value)} | {shown} |"


def _value(schema: Mapping[str, Any]) -> str:
    """What a value may be, in words."""
    if "$ref" in schema:
        return f"<<{schema['$ref'].rpartition('/')[2]}>>"
    for joined in ("anyOf", "oneOf"):
        if joined in schema:
            kinds = [_value(one) for one in schema[joined] if one.get("type") != "null"]
            kinds = list(dict.fromkeys(kinds))
            return kinds[0] if len(kinds) == 1 else f"{', '.join(kinds[:-1])} or {kinds[-1]}"
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        words = [value if isinstance(value, str) else json.dumps(value) for value in values]
        texts = [f"`{word}`" for word in words]
        return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"
    return _sized(schema)


def _sized(schema: Mapping[str, Any]) -> str:
    """A value of one JSON type, with its limits."""
    kind = schema.get("type", "any value")
    if kind == "array":
        return _list(schema)
    if kind == "object":
        return _mapping(schema)
    if kind == "string":
        return _string(schema)
    word = {"number": "number", "integer": "whole number", "boolean": "`true` or `false`"}
    return word.get(str(kind), str(kind)) + _limits(schema)


def _list(schema: Mapping[str, Any]) -> str:
    if "prefixItems" in schema:
        return f"list of {len(schema['prefixItems'])}: {_value(schema['prefixItems'][0])}"
    return f"list of: {_value(schema.get('items', {}))}"


def _mapping(schema: Mapping[str, Any]) -> str:
    named = schema.get("patternProperties")
    if not named:
        return "mapping"
    (inner,) = named.values()
    return f"by name: {_value(inner)}"


def _string(schema: Mapping[str, Any]) -> str:
    pattern = schema.get("pattern", "")
    if pattern == NAME:
        return "name"
    if re.fullmatch(r"\^-\?\[0-9\].*", pattern):
        return "printed number, in quotes"
    return "text"


def _limits(schema: Mapping[str, Any]) -> str:
    words = {
        "exclusiveMinimum": "above",
        "minimum": "at least",
        "exclusiveMaximum": "below",
        "lt": "below",
        "maximum": "at most",
    }
    found = [
        f"{word} {schema[key]:,}"
        for key, word in words.items()
        if key in schema and schema[key] < HUGE
    ]
    return f", {' and '.join(found)}" if found else ""


def _page(parts: Sequence[str]) -> str:
    return "\n\n".join(part.strip() for part in parts) + "\n"


PAGES = {
    "reference/claim-keys": claim_keys,
    "reference/configuration-keys": configuration_keys,
    "reference/command-line": command_line,
    **library.PAGES,
    **papers.PAGES,
    **controls.PAGES,
    **speedruns.PAGES,
    **gallery.PAGES,
}

if __name__ == "__main__":
    for page, written in PAGES.items():
        target = ROOT / "docs" / f"{page}.md"
        target.parent.mkdir(exist_ok=True)
        target.write_text(written(), encoding="utf-8")
