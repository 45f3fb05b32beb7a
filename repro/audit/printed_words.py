"""What the words of a printed table say: which names are data sets, metrics or methods, and n.

Whether its methods are the rows or the columns follows from these; where nothing tells, nothing is
guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from repro.audit.audit_file import TestName

Reading: TypeAlias = Literal["sd", "se", "ci95", "ci95-t", "ci95-z", "other"]
"""What ± is said to be; an interval is one of t, or of standard errors (z), or either.

`other`: a range, a variance or the like, of which no test can be made.
"""
Better: TypeAlias = Literal["lower", "higher"]
Side: TypeAlias = Literal["rows", "columns"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What ± is said to be: so many deviations or errors, or half of an interval of a level."""

    reading: Reading
    times: float = 1.0
    level: float = 0.95

    @property
    def name(self) -> str:
        """`half of a 95 % interval`."""
        if self.reading == "other":
            return "a range, a variance or the like"
        if self.reading in ("sd", "se"):
            what = "standard deviation" if self.reading == "sd" else "standard error"
            return what if self.times == 1 else f"{self.times:g} {what}s"
        by = {"ci95-t": " by t", "ci95-z": " by z"}.get(self.reading, "")
        return f"half of a {100 * self.level:g} % interval{by}"


_TIMES = {"": 1.0, "half": 0.5, "one": 1.0, "twice": 2.0, "double": 2.0, "two": 2.0, "three": 3.0}
_MANY = (
    r"(?:(?<![\w.-])(half|one|two|three|twice|double|[123]|0?\.5|[12]\.5|1\.645?|1\.96|2\.58)"
    r" ?[x×*]? ?"
    r"(?:(?:of )?(?:a|an|the|one) )?)?"
)
_OTHER = re.compile(
    r"inter-?(?:quartile|quantile)|\biqr\b|\b(?:percentile|quantile|quartile)s?\b|\bmad\b"
    r"|\b(?:n|nos?\.?|numbers?|counts?) ?\( ?% ?\)|= ?\w+ \( ?% ?\)|top-?1 \(top-?5\)"
    r"|\branks?\b[^.;]{0,30}(?:parenthes|bracket)"
    r"|median absolute|bootstrap(?:ped)? (?:replicate|sample|resample|std|standard)"
    r"|\bmin(?:imum)?(?:[-/ ]| and | to )max(?:imum)?\b"
    r"|(?:±|bars?|denotes?|shows?|with|and|half)[^.;]{0,20}\brange\b(?! from)"
    r"|(?:±|bars?|denotes?|shows?|mean and|mean \(|with)[^.;]{0,12}(?<!equal )\bvariances?\b"
)
_LEVEL = r"(?<![\w.])([5-9][0-9](?:\.[0-9]+)?)(?: ?% ?(?:\w+ )?| )"
_SAYS: Mapping[Reading, re.Pattern[str]] = {
    "sd": re.compile(
        rf"{_MANY}(?:\b(?:s\.?d\.?|std(?!\.? ?err)\.?|stdev|standard deviations?"
        r"|standardabweichung|écart[- ]type|desviación estándar)"
        r"(?![a-z]| of the mean)|σ|标准差|標準偏差)"
    ),
    "se": re.compile(
        rf"{_MANY}\b(?:s\.?e\.?m?|std\.? ?err(?:or)?s?|(?:standard|std\.?) errors?"
        r"|(?:standard deviations?|s\.?d\.?) of the mean)(?![a-z])"
    ),
    "ci95": re.compile(
        rf"{_LEVEL}(?:ci|c\.i\.|confidence|credible)|\bci ?([5-9][0-9])(?![0-9.])"
        r"|(?:confidence|credible) intervals?"
    ),
}
_COUNTS = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "twelve": 12,
    "fifteen": 15,
    "sixteen": 16,
    "twenty": 20,
    "thirty": 30,
    "fifty": 50,
    "a hundred": 100,
    "one hundred": 100,
}
_COUNT = (
    r"((?<![-\d\N{EN DASH}~])(?<![-\N{EN DASH}~] )(?<!\bto )(?:\d{1,3}(?:[,’' ]\d{3})+|\d{1,6})"
    r"(?!\d|[.,’']\d| \d{3}\b| ?(?:[-\N{EN DASH}~]|to) ?\d"
    r"|(?:,| and| ?/| vs\.?) ?\d{1,6}(?![\d.]| ?%))"
    rf"|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
)
"""A number of runs: 3,990 is one, and 5-10 or 3.990 is none."""
_REPEATED = (
    r"(?:runs|seeds|splits|trials|repeats|repetitions|initiali[sz]ations|replicates"
    r"|replications|restarts)"
)
_ITEMS = (
    r"(?:test |training |labell?ed |held-out )?(?:samples|images|examples|questions|items"
    r"|sentences|documents|patients|subjects|participants|instances|points|problems|prompts)"
)
_RUNS = re.compile(
    rf"\bn ?= ?{_COUNT}\b(?! {_ITEMS}\b)"
    rf"|\b(?:over|of|across|with|from|for|using) (?:the )?{_COUNT} "
    rf"(?:[a-z-]+ ){{0,3}}{_REPEATED}\b|\b(?:repeated|run) {_COUNT} times\b"
    rf"|(?:^|[.,;:(±] ?){_COUNT} (?:random )?{_REPEATED}\b"
)
_PER_ARM = re.compile(
    rf"\b{_COUNT} (?:\w+ )?(?:per|in each) (?:group|arm|condition|method|model)\b"
)
_IN_TOTAL = re.compile(rf"\btotal (?:of |n ?= ?)*{_COUNT}|\bn ?= ?{_COUNT} (?:\w+ )?in total\b")
_NO_RUNS = re.compile(
    rf"\b(?:best|top)(?:[ -]\w+)? (?:out )?of (?:the )?{_COUNT}\b|cross[- ]?validat|\bfolds?\b"
    rf"|leave[- ]one[- ]out|bootstrap(?:ped)? (?:re)?(?:plicate|sample)|\btrained once"
    rf"|\bsingle run\b|[(,;] ?{_COUNT} (?:\w+ )?for (?!each|all|every|both)"
    rf"|{_REPEATED} (?:and|x|×|by|per) (?:the )?{_COUNT}\b"
    r"|\b(?:eval(?:uation)?|test|inference|decoding|sampling|generation)[ -](?:runs|seeds|trials)\b"
    rf"|{_REPEATED} of (?:one|a single|the same)\b|experiments? (?:with|of) {_COUNT} \w+ each\b"
    r"|number of [\w -]{0,30}(?:runs|seeds|episodes|trials|repeats)\b[\w -]{0,12} "
    r"(?:differ|var(?:y|ies)\b|depend|range)"
)
ONE_SIDED = re.compile(
    r"\b(?:one|1)[- ](?:sided|tailed)|\bdirectional test|\bis (?:greater|less) than 0\b"
)
CORRECTED = re.compile(
    r"bonferroni|[šs]id[áa]k|tukey|dunnett|\bholm\b|\bfdr\b|benjamini|adjusted p|p[-._ ]?adj"
    r"|(?<!bias-)(?<!bias )corrected(?! (?:model|total))|permutation (?:tests?|p\b)"
)
TWO_SIDED = re.compile(r"\b(?:two|2)[- ](?:sided|tailed)")
_OTHER_TESTS = re.compile(r"chi[- ]?squared?\b|χ|fisher|\banova\b|kruskal|log-?rank|mcnemar")
_TESTS: Mapping[TestName, re.Pattern[str]] = {
    "welch": re.compile(r"\bwelch|\bunequal variances?"),
    "student": re.compile(r"\bstudent['’]?s?['’]? t(?:-|\b)(?!-?dist)|\bequal variances"),
    "paired": re.compile(r"\bpaired (?:student'?s? )?t-?tests?"),
    "wilcoxon": re.compile(r"\bsigned[- ]rank|\bwilcoxon\b(?!['’ ]*s? (?:rank|mann|sum))"),
    "mann_whitney": re.compile(r"\bmann[- ]?whitney|\brank[- ]sum|\bu[- ]test"),
    "permutation": re.compile(r"\b(?:permutation|randomi[sz]ation) (?:tests?|p\b)"),
}
_LOWER = re.compile(
    r"\N{DOWNWARDS ARROW}|perplexity|\bppl\b|loss|error|\berr\b|rmse|\bmae\b|\bmse\b|\bnll\b"
    r"|\bfpr|lpips|brier|\bfid\b|\bwer\b|\becer?\b|\bbpc\b|\bbpb\b|regret|latency|\beer\b|hallucinat|toxic"
    r"|lower is better"
)
_HIGHER = re.compile(
    r"\N{UPWARDS ARROW}|accura|\bacc\b|\bf1\b|bleu|rouge|\bauc\b|auroc|\bmap\b|score|reward|return"
    r"|precision|recall|\br2\b|\bap\b|miou|\bchrf\b|success|throughput|top-?[0-9]"
    r"|\b(?:pass|hits?|hr|r|p|pck|prec|maj) ?@ ?[0-9k]|\bap[0-9]{2}\b"
    r"|\biou\b|\bmcc\b|kappa|\bdice\b|\bndcg\b|\bmrr\b|psnr|\bssim\b|higher is better"
)
_LIKELIHOOD = re.compile(r"\bll\b|likelihood")
_AT = re.compile(
    r"\b[a-z]+ ?@ ?[0-9k]+(?:\.[0-9]+)?%?"
    r"|\b(?:top|bleu|rouge|hits?|ndcg|recall|precision|distinct|m?ap)[-_ ]?(?:[0-9]+|l|lsum)\b"
    r"|\bap[sml]\b"
)
"""A metric with its number: Pass@1, Top-5, BLEU-4."""

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

_DATA = (
    r"(?:(?:fashion|colou?red|rotated|permuted|split|sequential|tiny|mini|tiered|noisy|full|down"
    r"sampled)[- ]?|[ek])?(?:imagenet|mnist|cifar)|svhn|stl-?10|coco|ms ?coco|(?:pascal )?voc"
    r"|cityscapes|ade20k|kitti|celeba|lsun|lfw|caltech|cub(?:-?200)?|food-?101|sun397|dtd|eurosat"
    r"|vtab|objectnet|inaturalist|places365|omniglot|oxford|(?:oxford-iiit )?pets|flowers"
    r"|stanford cars|fgvc|pacs|vlcs|office-?home|terra ?inc\w*|domainnet|nyu ?v2|librispeech"
    r"|mnli|qqp|qnli|sst|cola|sts-?b|mrpc|rte|wnli|boolq|copa|multirc|squad|glue|superglue|snli"
    r"|mmlu|hellaswag|piqa|winogrande|truthfulqa|gsm8k|humaneval|mbpp|bbh|lambada|triviaqa|arc-[ec]"
    r"|wmt|iwslt|multi30k|wikitext|ptb|penn treebank|enwik8|text8|lm1b|conll|imdb|yelp|ag ?news"
    r"|dbpedia|20 ?news\w*|trec|xsum|cnn/?dm|gigaword|cora|citeseer|pubmed|nell|reddit|ppi"
    r"|ogb[nlg]-\w+|coauthor|amazon(?: computers?| photos?)|chameleon|squirrel|mutag|proteins|nci1"
    r"|collab|enzymes|zinc|qm9|md17|hopper|walker(?:2d)?|half-?cheetah|ant|humanoid|swimmer|reacher"
    r"|inverted ?(?:double ?)?pendulum|pendulum|cart-?pole|acrobot|mountain ?car|lunar ?lander"
    r"|bipedal ?walker|breakout|pong|seaquest|q\*?bert|space ?invaders|beam ?rider|enduro|freeway"
    r"|montezuma\w*|asterix|alien|amidar|boston(?: housing)?|concrete|kin8nm|naval|yacht|iris"
)
_STARTS = re.compile(
    rf"(?:{_DATA})(?![a-z])(?![- ]?(?:pre-?train|init|weights|features))", re.IGNORECASE
)
_HAS = re.compile(rf"(?<![\w(\[/+-])(?:{_DATA})(?![a-z])", re.IGNORECASE)
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
ACCURACY_KNOWN = re.compile(
    r"(?:imagenet|[\w ]*mnist|cifar|svhn|cora|citeseer|pubmed|nell)(?![a-z])"
)
"""Data sets whose numbers above one half are accuracies as good as always."""


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
        "columns": [name for name in columns if _HAS.search(name)],
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


def spread_told(said: str) -> Meaning | None:
    """What header and notes say that ± is, where they say one thing."""
    found = {_meaning(reading, each) for reading, by in _SAYS.items() for each in by.findall(said)}
    found |= {Meaning("other")} if _OTHER.search(said) else set()
    return found.pop() if len(found) == 1 else None


def _meaning(reading: Reading, found: str | Sequence[str]) -> Meaning:
    number = next(filter(None, [found] if isinstance(found, str) else found), "")
    if reading == "ci95":
        return Meaning(reading, level=float(number or 95) / 100)
    return Meaning(reading, _TIMES.get(number) or float(number))


def runs_told(said: str) -> int | None:
    """How many runs the notes say a mean is of, where they name one number, in digits or words.

    None where the runs are folds, the best of some, or evaluations of one model.
    """
    if _NO_RUNS.search(said):
        return None
    found = _PER_ARM.findall(said) or [
        next(filter(None, each)) for each in _RUNS.findall(_IN_TOTAL.sub("", said))
    ]
    counts = {_COUNTS.get(text) or int(re.sub(r"\D", "", text)) for text in found}
    return (counts.pop() or None) if len(counts) == 1 else None


class NamedTest(NamedTuple):
    """The test of a printed p, and its sides, where the table says them."""

    test: TestName | None = None
    tails: Literal[1, 2] | None = None


UNNAMED = NamedTest()


def test_told(said: str) -> NamedTest:
    """The one test that header and notes name; none where p-values may be corrected ones."""
    if CORRECTED.search(said):
        return UNNAMED
    found = [test for test, named in _TESTS.items() if named.search(said)]
    found = [] if _OTHER_TESTS.search(said) else found
    if "paired" in found and "student" in found:
        found.remove("student")
    one, two = (each.search(said) is not None for each in (ONE_SIDED, TWO_SIDED))
    tails: Literal[1, 2] | None = None if one == two else 1 if one else 2
    return NamedTest(found[0] if len(found) == 1 else None, tails)


def runs_in_name(name: str, *, of_method: bool) -> int | None:
    """How many runs a name says; of another than a method or metric `n` may count items."""
    said = name.lower()
    if not of_method and (_HAS.search(name) or not metrics_in(name)):
        said = re.sub(r"\bn ?= ?", "", said)
    return runs_told(said)


TURNED = re.compile(
    r"\b(?:\w+ )?(?:drop|degradation|gap|decrease|reduction)\b|\b(?:accuracy loss|negative \w+)\b"
    r"|\b1 ?[-\N{MINUS SIGN}] ?\w*|\b\w+[- ]free\b|\b(?:time|steps|epochs) to \w+",
    re.IGNORECASE,
)
"""Words that turn the way of the metric next to them, so that neither tells of one."""


def way(text: str) -> Better | None:
    """Which way is better by a name or a caption, if it tells of one way."""
    said = TURNED.sub("", re.sub("(?:standard|std) errors?", "", text.lower()))
    lower, higher = (bool(each.search(said)) for each in (_LOWER, _HIGHER))
    if lower == higher:
        return None
    return "lower" if lower else "higher"


def metrics_in(name: str) -> frozenset[str]:
    """The metrics that the name of a column tells of."""
    counted = _AT.findall(name.lower())
    rest = _AT.sub(" ", name.lower())
    found = (each.findall(rest) for each in (_LOWER, _HIGHER, _LIKELIHOOD))
    return frozenset(counted).union(*found)
