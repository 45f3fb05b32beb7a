"""Whether the methods of a printed table are its rows or its columns, by what their names say.

Where nothing tells, nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from repro.audit.printed_words import DATA, HAS_DATA, Side, metrics_in

_TASKS = re.compile(
    r"(?:data ?sets?|tasks?|env(?:ironment)?s?(?:[ _]id)?|metrics?|measures?|benchmarks?"
    r"|workloads?|circuits?|features?|characteristics?|outcomes?|covariates?"
    r"|datens[aä]tze?|jeux? de données|conjuntos? de datos|aufgaben?|tâches?|数据集|データセット"
    r"|games?|variables?|domains?|corpus|corpora|problems?|languages?|language pairs?|test sets?)"
    r"(?:[ _-]?(?:name|id))?(?: ?\([^()]*\))?"
)
CLASSES = re.compile(
    r"(?:(?:sub)?class(?:es)?|categor(?:y|ies)|labels?|splits?|subsets?|subjects?|attributes?"
    r"|(?:entity|relation|class|question|error|cell)(?: types?| names?)?|entities|relations|skills?"
    r"|aspects?|topics?|intents?|slots?|organs?|objects?|genres?|emotions?|scenarios?"
    r"|folds?|scenes?|sequences?|sites?|speakers?|corruptions?|(?:noise|difficulty) levels?|shots"
    r"|regions?|countr(?:y|ies)|horizons?)(?: ?\([^()]*\))?"
)
"""What heads names of parts of the data, if no method is among them."""
_METHODS_HEAD = re.compile(
    r"(?:methods?|algo(?:rithm)?s?|approach(?:es)?|optimi[sz]ers?|agents?|arms?|systems?|models?"
    r"|baselines?|estimators?|classifiers?|learners?|variants?"
    r"|m[eé]th?od(?:[eo]s?|en|i)|verfahren|mod[eè]l(?:les?|los|li|os?|es)|方法|模型|算法|手法|モデル)"
    r"(?: ?\([^()]*\))?"
)
"""What heads the first column: where these do, methods are the columns, or the rows."""

_STARTS = re.compile(
    rf"(?:{DATA})(?![a-z])(?![- ]?(?:pre-?train|init|weights|features))", re.IGNORECASE
)
_REST = re.compile(
    r"(?:[-\s_/,]*(?:v?\d[\w.]*|[a-z]{1,2}|real|test|val\w*|dev|train\w*|top|acc\w*|iiit|pets|flowers"
    r"|cars|tasks|\([^()]*\)|\[[^\[\]]*\]|[\N{UPWARDS ARROW}\N{DOWNWARDS ARROW}%&]))*",
    re.IGNORECASE,
)
"""What may follow the name of a data set that is not part of the name of a method."""
_SPLIT = re.compile(
    r"(?:train(?:ing)?|val(?:id(?:ation)?)?|dev|test)(?: (?:set|split|acc\w*|err\w*|loss))?"
    r"|\d+[- ]?shots?|(?:un)?seen|time|makespan|params?"
)
"""Columns that hold results of one method, with metrics."""
_OURS = re.compile(r"\bours\b|\bthis (?:work|paper)\b|\bproposed\b", re.IGNORECASE)
_SIGNED = re.compile(
    r"\bours?\b|\bthis (?:work|paper)\b|\bproposed\b|\bet al\b|\[\d{1,3}\]|\bbaseline\b"
    r"|\([^()]*\b(?:19|20)\d\d[a-z]?\)|^\+ ?[a-z]|^w/o?\b|^without\b",
    re.IGNORECASE,
)
"""Words that only methods are signed with: ours, a citation, a part that is added or left out."""

_METHOD = re.compile(
    r"\b(?:sgd|adamw?|rmsprop|momentum|resnet|vgg|densenet|efficientnet|vit|bit|bert|roberta|gpt"
    r"|llama|t5|transformer|lstm|gru|mlp|cnn|gnn|gcn|gat|graphsage|svm|k-?nn|xgboost|random forest"
    r"|ppo|sac|td3|ddpg|trpo|dqn|a[23]c|maml|erm|dropout|ensembles?)\b",
    re.IGNORECASE,
)
_NETWORK = re.compile(
    r"(?:(?:pre(?:act)?|wide)[- ]?)?(?:resnet|resnext|wrn|vgg|densenet|efficientnet|mobilenet|vit"
    r"|deit|convnext|swin|inception|alexnet|lenet)(?![a-z])",
    re.IGNORECASE,
)
_TRAINING = re.compile(
    r"\b(?:sgd|adamw?|rmsprop|momentum|swa|sam|lamb|lars|mixup|cutmix|cutout|dropout|erm)\b",
    re.IGNORECASE,
)
"""Networks, and what they are trained by: where both are named, the latter are compared."""


def is_ours(name: str) -> bool:
    """Whether a method is said to be of the authors of its table."""
    return _OURS.search(name) is not None or name.lower().startswith("our ")


def is_signed(name: str) -> bool:
    """Whether a name is signed as only those of methods are: ours, a citation, `+ NFT`."""
    return _SIGNED.search(name) is not None


def of_data(head: str) -> bool | None:
    """Whether a column of names is of data sets or classes; False of methods; None where open."""
    if CLASSES.fullmatch(head.lower()):
        return True
    return {"columns": True, "rows": False, None: None}[_said(head.lower())]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the methods of a table are, and what it was guessed by, empty where the table says it.

    ``side`` is ``None`` where nothing tells.
    """

    side: Side | None
    guessed_by: str = ""

    @property
    def sentence(self) -> str:
        """Which was taken, and how to turn it; empty where the table says it."""
        if not self.guessed_by or self.side is None:
            return ""
        other = OTHER[self.side]
        return (
            f"Methods are the {self.side}, guessed because {self.guessed_by}: --methods {other} "
            "turns it."
        )


OTHER: Mapping[Side, Side] = {"rows": "columns", "columns": "rows"}


def layout(
    corner: str,
    rows: Sequence[str],
    columns: Sequence[str],
    bold: Sequence[Sequence[bool]],
    *,
    p_of_row: bool,
    of_arms: bool,
) -> Layout:
    """Where methods are: by what heads the first column, by the names, by what is set in bold.

    A known data set outweighs the word in the corner, which may be of the other names.
    ``p_of_row`` is whether every row has a p, and ``of_arms`` whether there is a column of p or n.
    """
    of_classes = CLASSES.fullmatch(corner.lower())
    said = "columns" if of_classes else _said(corner.lower())
    by_data = _by_data(rows, columns, most_only=said is not None)
    if by_data.side is not None and by_data.side != said and len(columns) > 1:
        return by_data
    if said is not None:
        return _as_headed(said, corner, rows, columns)
    if len(columns) == 2 and p_of_row:
        return Layout("columns")
    if len(columns) == 1:
        return Layout("columns" if all(map(_is_data, rows)) else "rows")
    for found in (
        _by_names(rows, columns, _SIGNED.search, "names a method"),
        _by_metrics(rows, columns),
        _by_training(rows, columns),
        _by_names(rows, columns, _METHOD.search, "names a method"),
        Layout("rows" if of_arms else None),
        _by_bold(bold),
    ):
        if found.side is not None:
            return found
    return Layout("rows", f"the first column is headed {corner[:40]!r}") if corner else Layout(None)


def _as_headed(said: Side, corner: str, rows: Sequence[str], columns: Sequence[str]) -> Layout:
    """The side that the first header says, if the names of the other do not say otherwise."""
    if said == "rows":
        by_sign = _by_names(rows, columns, _SIGNED.search, "names a method")
        turned = corner.lower().startswith("model") and by_sign.side == "columns"
        return by_sign if turned else Layout(said)
    for is_one in (_OURS.search, _METHOD.search):
        by_name = _by_names(rows, columns, is_one, "names a method")
        if by_name.side is not None:
            return by_name if by_name.side == "rows" else Layout(said)
    one_a_metric = len({*filter(None, map(metrics_in, columns))}) == len(columns)
    if one_a_metric and any(map(is_signed, rows)):
        return _by_names(rows, columns, is_signed, "names a method")
    if CLASSES.fullmatch(corner.lower()) and (one_a_metric or len(columns) == 1):
        return Layout(None)  # the parts are of one method, or classes of methods
    sure = re.match(
        r"data|task|env|bench|metric|measure|test|corp|problem|entit|relat", corner.lower()
    )
    return Layout(said, "" if sure else f"the first column is headed {corner[:40]!r}")


def _is_data(name: str) -> bool:
    """Whether a name is that of a known data set, and not of a method that is called after one."""
    found = _STARTS.match(name)
    return found is not None and _REST.fullmatch(name[found.end() :]) is not None


def _is_measure(name: str) -> bool:
    """Whether a name is that of a metric or of a split, whatever the method."""
    return bool(metrics_in(name)) or _SPLIT.fullmatch(name.lower()) is not None


def _said(corner: str) -> Side | None:
    """What the first header says, if it is of one side: not `Method / Data set`."""
    if _TASKS.fullmatch(corner):
        return "columns"
    return "rows" if _METHODS_HEAD.fullmatch(corner) else None


def _by_data(rows: Sequence[str], columns: Sequence[str], *, most_only: bool) -> Layout:
    """Known data sets on one side only, or on most of one side and few of the other."""
    shares = {
        "rows": [name for name in rows if _is_data(name)],
        "columns": [name for name in columns if HAS_DATA.search(name)],
    }
    many = {"rows": len(rows), "columns": len(columns)}
    for side, other in OTHER.items():
        mine, theirs = shares[side], shares[other]
        if all(map(_is_measure, rows if other == "rows" else columns)):
            continue
        most = len(mine) * 2 >= many[side] and len(theirs) * 2 < many[other]
        if most_only:
            most = len(mine) == many[side] and not theirs
        if mine and (most or not (theirs or most_only)):
            return Layout(other, f"{mine[0][:40]!r} is a data set")
    return Layout(None)


def _by_names(
    rows: Sequence[str], columns: Sequence[str], is_one: Callable[[str], object], why: str
) -> Layout:
    """Names of a sort on one side only."""
    found: Mapping[Side, list[str]] = {
        "rows": list(filter(is_one, rows)),
        "columns": list(filter(is_one, columns)),
    }
    for side, other in OTHER.items():
        if found[side] and not found[other]:
            return Layout(side, f"{found[side][0][:40]!r} {why}")
    return Layout(None)


def _by_training(rows: Sequence[str], columns: Sequence[str]) -> Layout:
    """Networks all along one side, and what trains them on the other."""
    for side, names, others in (("columns", rows, columns), ("rows", columns, rows)):
        found = next(filter(_TRAINING.search, others), "")
        if found and all(map(_NETWORK.match, names)):
            return Layout(side, f"{found[:40]!r} trains {names[0][:40]}")  # type: ignore[arg-type]
    return Layout(None)


def _by_metrics(rows: Sequence[str], columns: Sequence[str]) -> Layout:
    """Metrics all along one side: methods are the other."""
    for side, names, others in (("columns", rows, columns), ("rows", columns, rows)):
        if all(map(_is_measure, names)) and not any(map(_is_measure, others)):
            return Layout(side, f"{names[0][:40]!r} is a metric")  # type: ignore[arg-type]
    return Layout(None)


def _by_bold(bold: Sequence[Sequence[bool]]) -> Layout:
    """The best is bold in each row but not in each column, or the reverse."""
    in_rows = all(any(row) for row in bold)
    in_columns = all(any(column) for column in zip(*bold, strict=True))
    if in_rows == in_columns:
        return Layout(None)
    side: Side = "columns" if in_rows else "rows"
    return Layout(side, f"each {'row' if in_rows else 'column'} has a number in bold")
