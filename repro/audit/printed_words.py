"""What the words of a printed table say: what ± is, of how many runs, by which test; metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from repro.audit.audit_file import TestName
from repro.audit.notations import OPENED, STATISTIC, is_statement, plain

Reading: TypeAlias = Literal["sd", "se", "ci95", "ci95-t", "ci95-z", "other", "chosen"]
"""What ± is said to be; an interval is one of t, or of standard errors (z), or either.

`other`: a range, a variance or the like, of which no test can be made; `chosen`: of some runs that
were chosen by their results.
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
            return "a range, a variance, a share, of medians or the like"
        if self.reading == "chosen":
            return "of runs that were chosen by their results, or of the best"
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
_INTERVAL_BY: Mapping[Reading, re.Pattern[str]] = {
    "ci95-t": re.compile(
        r"\b(?:ci|intervals?)s? ?\((?:by |from |of )?(?:t|student(?:['’]?s)?(?: t)?)(?: dist\w+)?\)"
        r"|\b(?:student|t)(?:['’]?s)?(?:[- ]t)?[- ](?:distribution|based|(?:confidence )?interval)"
    ),
    "ci95-z": re.compile(
        r"\b(?:ci|intervals?)s? ?\((?:by |from |of )?(?:z|normal)\w*(?: (?:dist|approx)\w+)?\)"
        r"|\bnormal approximation"
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
    rf"|\bover the (?:[a-z-]*[a-rt-z] ){{1,3}}and {_COUNT} (?:random )?{_REPEATED}\b"
    rf"|\b(?:runs|trials|repeats|repetitions|replicates|number of seeds|# ?seeds) ?[:=] ?{_COUNT}"
)
_SEEDS = re.compile(r"\bseeds? ?(?:=|:|in|∈)? ?[\[{(]\\?\{? ?([0-9]+(?:, ?[0-9]+)+) ?\\?\}?[\]})]")
"""The seeds themselves, which are counted."""
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
_SORT = (
    r"(?:bonferroni|[šs]id[áa]k|tukey|dunnett|\bholm\b|\bfdr\b|benjamini|scheff[eé]"
    r"|games[- ]howell|hochberg|\bmultiplicity)"
)
CORRECTED = re.compile(
    rf"{_SORT}|\badj(?:usted|\.)? p\b"
    r"|\bp[-._ {(]{0,2}(?:\\[a-z]+\{)?(?:adj|bonf|holm|fdr|fwe|corr)"
    r"|multiple[- ](?:comparisons?|tests?|testing) correction|corrections? for multiple"
    r"|(?<!un)(?<!not )(?<!bias[ -])(?<!geisser[ -])(?<!feldt[ -])(?<!welch[ -])(?<!white[ -])"
    r"(?<!yates[ -])(?<!continuity[ -])corrected(?![ -](?:model|total|to[ -]normal|vision|visual"
    r"|item|degrees of|df|d\.f\.|(?:for|using|with|by)(?: the)? (?:(?:non-?)?spheric|greenhouse"
    r"|huynh|unequal|heterosced|continuity)))|permutation (?:tests?|p\b)"
)
_OF_MANY = r"(?:multipl[ei]\w*|post[- ]hoc|p[- ]values?)(?:[- ](?:comparisons?|test(?:s|ing)?))?"
_A_CORRECTION = (
    rf"(?:(?:the|an?|any|further|formal|additional|such|{_SORT}(?:['’]s|[- ]type)?|{_OF_MANY})"
    r"[ -]){0,4}(?:corrections?|adjustments?)\b"
)
_BY = rf"(?:,? \(?(?:(?:for|using|with|by|via|of)(?: the)? )?(?:{_OF_MANY}|{_SORT})\)?){{0,4}}"
UNCORRECTED = re.compile(
    rf"(?:\bun|\b(?:(?:not|never)(?: been| further| formally)?|(?:did|do|was|were)n['’]t) )"
    rf"(?:{_SORT}[- ])?(?:correct|adjust)(?:ed)?\b{_BY}"
    rf"|\b(?:no|(?<!and )(?<!or )without|(?:not|n['’]t) (?:apply|applied|use|used|made?|make)) "
    rf"{_A_CORRECTION}{_BY}(?: (?:was|were|is|are|has|have|been|made|applied|used|performed)\b)*"
    rf"|\b{_A_CORRECTION}{_BY} (?:was|were|is|are) not (?:made|applied|used|performed|done)\b"
)
"""Words that deny a correction of p, or of something else."""
_IN_PART = re.compile(
    r"\b(?:unless|except|otherwise|only|where|when|if|some|for|of|in|on|at|by|but|first|second)\b"
)
_OF_P = re.compile(rf"\bp\b|\btests?\b|significan|{_OF_MANY}|{_SORT}")


def is_corrected(said: str) -> bool | None:
    """Whether words in lower case tell of corrected p-values; False where they deny it of all."""
    said = " ".join(said.split())
    rest = UNCORRECTED.sub("", said)
    if CORRECTED.search(rest):
        return True
    return None if rest == said or _IN_PART.search(rest) or not _OF_P.search(said) else False


_ON_P = r"(?:\bp\b|\bp[- ]?values?\b|\bt-?tests?\b|\bsignifican\w+)"
_BY_MODEL = (
    r"\b(?:(?:(?:(?:generali[sz]ed )?linear |linear |non-?linear |logistic )?(?:mixed|multilevel)"
    r"(?:[- ]effects?)?|linear|logistic|poisson|cox|(?:multiple |multivaria\w+ )?regression"
    r"|random[- ]effects?)(?:[- ]regression)?[- ]models?|(?:linear|logistic|multiple|multivaria\w+"
    r"|cox) regressions?|(?:by|from|with|using|of|paired|a) bootstrap\w*"
    r"(?! (?:\w+ )?(?:[59][0-9]? ?% ?)?(?:ci|conf|int|st|se))|bootstrap tests?"
    r"|permutation (?:tests?|p)|by (?:permutation|randomi[sz]ation)s?)\b"
)
_NOT_OF_MEANS = re.compile(
    r"\badjust(?:ed|ing|ments?) for (?!(?:each|every|all|both)\b"
    r"|(?:the )?(?:multipl|number|famil|false|compar|test))\w+"
    r"|\b(?:baseline|age|sex|gender)(?:[- ]and[- ]\w+)?-adjusted"
    r"|\btests? (?:on|of|for) (?:the )?(?:changes? (?:from|scores?)|log\b)"
    r"|\bm?ancova\b|\banalysis of covariance|\bas (?:an? )?covariates?\b|\bcovariate[- ]adjust"
    r"|\bgee\b"
    r"|\bgenerali[sz]ed (?:estimating|additive)|\brepeated[- ]measures?\b"
    r"|\b(?:log\w*|rank|box-cox|square[- ]root)[- ]transform\w*"
    rf"|{_BY_MODEL}(?=[^.;]{{0,60}}{_ON_P})"
)
_AFTER_P = re.compile(rf"{_ON_P}[^.;]{{0,60}}?({_BY_MODEL})")
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
_UNPAIRED = re.compile(
    r"\b(?:independent|unpaired|(?:two|2)[- ]samples?)(?:[- ](?:samples?|groups?|measures))? "
    r"t[- ]?tests?\b"
)
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

_OF_MEDIANS = re.compile(
    r"\bmedians?\b(?:(?!\bmeans?\b)[^.;]){0,40}\b(?:over|of|across|from) (?:the )?"
    rf"(?:{_COUNT} )?(?:\w+ )?{_REPEATED}\b"
    r"|(?:±|\+/-) ?(?:the )?(?:r?mse|mae|cv|coefficients? of variation|geometric)\b"
    r"|\b(?:mean|average) \((?:the )?(?:r?mse|cv|coefficient of variation)\b"
    r"|\bgeometric (?:s\.?d\b|std|standard dev|means? ?(?:±|\+/-))"
    r"|\b(?:deviations?|errors?|s\.?[de]|std|sem)\.? ?(?:(?:is |are )?(?:divided|multiplied) by"
    r"|halved|doubled|[/÷×] ?(?:2|√|sqrt|\\sqrt))"
)
"""A value that is the median of runs, which no t-test of means takes."""

_SORTS = r"(?:worst|best|lowest|highest|outliers?|outlying|extremes?|failed|diverged|runs?|seeds?)"
_CUT = r"(?:discard|dropp|exclud|remov|omitt|reject)(?:ed|ing)"
_OF_CHOSEN = re.compile(
    r"\b(?:trimm(?:ed|ing) (?:means?|averages?|of)|winsori[sz]\w+)\b"
    rf"|\b(?:{_CUT}|leaving out) (?:\w+ ){{0,3}}{_SORTS}\b"
    rf"|\b{_SORTS} (?:\w+ ){{0,2}}(?:{_CUT}|left out)\b|\b(?:without|except) (?:the )?{_SORTS} run"
    rf"|\b(?:max(?:imum)?|peak|highest|lowest|min(?:imum)?)(?: (?!mean|average)\w+){{0,2}} "
    rf"(?:over|of|across|from|among) (?:the )?(?:all )?(?:{_COUNT} )?(?:\w+ )?{_REPEATED}\b"
    rf"|\b(?:mean|average)\W{{1,3}}of (?:the )?(?:maxim|max\b|best\b(?! \d)|peaks?\b|highest\b(?!-)"
    r"|minim|min\b)"
)
"""Some of the runs, by their results."""
_DENIED = re.compile(r"\b(?:no|not|none|never|without)\b[^.;]*$")

DATA = (
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
HAS_DATA = re.compile(rf"(?<![\w(\[/+-])(?:{DATA})(?![a-z])", re.IGNORECASE)
ACCURACY_KNOWN = re.compile(
    r"(?:imagenet|[\w ]*mnist|cifar|svhn|cora|citeseer|pubmed|nell)(?![a-z])"
)
"""Data sets whose numbers above one half are accuracies as good as always."""


def spread_told(said: str) -> Meaning | None:
    """What header and notes say that ± is, where they say one thing."""
    found = {_meaning(reading, each) for reading, by in _SAYS.items() for each in by.findall(said)}
    found |= {Meaning("other")} if _OTHER.search(said) else set()
    found = {Meaning("other")} if _OF_MEDIANS.search(said) else found
    if (chosen := _OF_CHOSEN.search(said)) and not _DENIED.search(said[: chosen.end()][-40:]):
        found = {Meaning("chosen")}
    if len(found) != 1:
        return None
    (meaning,) = found
    by = [reading for reading, words in _INTERVAL_BY.items() if words.search(said)]
    return (
        replace(meaning, reading=by[0]) if meaning.reading == "ci95" and len(by) == 1 else meaning
    )


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
    listed = {len({*re.findall("[0-9]+", each)}) for each in _SEEDS.findall(said)}
    counts = listed | {_COUNTS.get(text) or int(re.sub(r"\D", "", text)) for text in found}
    return (counts.pop() or None) if len(counts) == 1 else None


class NamedTest(NamedTuple):
    """The test of a printed p, and its sides, where the table says them.

    ``unpaired`` is whether it is a t-test of independent groups, by Student or Welch.
    """

    test: TestName | None = None
    tails: Literal[1, 2] | None = None
    unpaired: bool = False


UNNAMED = NamedTest()


class OfP(NamedTuple):
    """Why a printed p is none of a t-test of two printed means, and its correction, if known."""

    doubt: str = ""
    corrected: Literal["", "Holm", "Bonferroni"] = ""


OF_MEANS = OfP()


def p_told(said: str) -> OfP:
    """What the words say of p, where it is not of the printed means, or is corrected."""
    if found := _NOT_OF_MEANS.search(said):
        return OfP(f"by the words p is of other than the printed means alone: {found[0]!r}")
    if found := _AFTER_P.search(said):
        return OfP(f"by the words p is of other than the printed means alone: {found[1]!r}")
    rest = UNCORRECTED.sub("", said)
    if (word := CORRECTED.search(rest)) is None:
        return OF_MEANS
    kinds = {each for each in ("holm", "bonferroni") if each in rest}
    others = re.search(r"[šs]id[áa]k|tukey|dunnett|\bfdr\b|benjamini|scheff|hochberg", rest)
    doubt = (
        f"by the words p is corrected ({word[0]}); such a p is checked only after Holm or "
        "Bonferroni, of two-sided t-tests of independent runs, where n and ± are known"
    )
    if not kinds or others:
        return OfP(doubt)
    return OfP(doubt, "Holm" if "holm" in kinds else "Bonferroni")


def test_told(said: str) -> NamedTest:
    """The one test that header and notes name; none where p-values may be corrected ones."""
    if is_corrected(said):
        return UNNAMED
    found = [test for test, named in _TESTS.items() if named.search(said)]
    unpaired = not found and _UNPAIRED.search(said) and not _OTHER_TESTS.search(said)
    found = [] if _OTHER_TESTS.search(said) else found
    if "paired" in found and "student" in found:
        found.remove("student")
    one, two = (each.search(said) is not None for each in (ONE_SIDED, TWO_SIDED))
    tails: Literal[1, 2] | None = None if one == two else 1 if one else 2
    return NamedTest(found[0] if len(found) == 1 else None, tails, bool(unpaired))


def runs_in_name(name: str, *, of_method: bool) -> int | None:
    """How many runs a name says; of another than a method or metric `n` may count items."""
    said = name.lower()
    if not of_method and (HAS_DATA.search(name) or not metrics_in(name)):
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


_SENTENCES = re.compile(r"(?<=[.!?])\s+|;|:\s*\n|\n\s*\n")
_OF_PART = re.compile(r"(?i)\b(?:unless|except|otherwise|not|where|when|if|some|for)\b")
_OF_SOME = re.compile(
    r"(?i)\bonly\b|\b(?:first|second|third|last) \w+|\bhypothes[ie]s [0-9]|\bh[0-9]\b(?! ?\()"
)
"""Words that a sentence is of some tests alone."""


def _of_one(sentence: str) -> bool:
    """Whether a sentence is of the statistic that stands in it."""
    printed = OPENED.search(sentence) or any(map(is_statement, STATISTIC.finditer(sentence)))
    return bool(printed) and not re.search(r"(?i)\ball\b", sentence)


def corrections(text: str) -> Iterator[tuple[int, bool]]:
    """Where each sentence begins that tells of corrected p-values, or denies them of all."""
    begin = 0
    for end in [*(each.end() for each in _SENTENCES.finditer(text)), len(text)]:
        sentence = text[begin:end]
        told = is_corrected(sentence.lower())
        if told or (told is False and not _of_one(sentence)):
            yield begin, told
        begin = end


def tells_of_one_sided(text: str) -> bool:
    """Whether a sentence tells of one-sided tests, and neither of one statistic nor of some."""
    sentences = (one for each in _SENTENCES.split(plain(text)) for one in each.split("\n"))
    told = (each for each in sentences if ONE_SIDED.search(each.lower()))
    return any(not (_of_one(each) or _OF_SOME.search(each)) for each in told)


def of_all(text: str) -> Literal[1, 2] | None:
    """The sides that a sentence says of all tests, as `All tests are one-sided` does."""
    found: set[Literal[1, 2]] = set()
    for sentence in _SENTENCES.split(plain(text)):
        if not (_of_one(sentence) or _OF_PART.search(sentence) or _OF_SOME.search(sentence)):
            found |= {1} if ONE_SIDED.search(sentence.lower()) else set()
            found |= {2} if TWO_SIDED.search(sentence.lower()) else set()
    return found.pop() if len(found) == 1 else None


_CORRECTION = r"(?P<sort{0}>bonferroni|holm)(?:[- ](?:bonferroni|holm))?"
_FAMILY = re.compile(
    rf"{_CORRECTION.format(1)}[- ](?:corrected|adjusted)"
    r"(?: p(?:[- ]?values?|s)\b(?! ?(?:of |is |was )?[=<>.0-9])|[^.;:()=<>]{0,30}\)?:)"
    r"|\bp(?:[- ]?values|s) (?:are|were|have been) (?:all )?"
    rf"(?:{_CORRECTION.format(2)}[- ](?:corrected|adjusted)"
    rf"|(?:corrected|adjusted)[\w ,-]{{0,40}}?\b{_CORRECTION.format(3)})"
)
_TESTS_NAMED = re.compile(rf"\b([0-9]+|{'|'.join(_COUNTS)}) (?:\w+ )?(?:tests|comparisons)\b")


def _of_some(said: str, found: re.Match[str]) -> bool:
    """Whether the words before a correction say that it is of some tests alone."""
    before = said[: len(said) - len(found[0])]
    after_it = found[0].startswith("p") and re.search("post[- ]?hoc|pairwise", before)
    return bool(after_it or _OF_PART.search(before))


def families(text: str) -> Iterator[tuple[int, tuple[str, int]]]:
    """From where on a text says that all p-values are corrected, how, and for how many tests.

    0 from where that is for all of the text, and 0 tests where their number is not named.
    """
    text, begin = text.lower(), 0
    for end in [*(each.end() for each in _SENTENCES.finditer(text)), len(text)]:
        found = _FAMILY.search(text, begin, end)
        if found and not (_of_some(text[begin : found.end()], found) or " all" in found[0]):
            said = text[begin:end]
            tests = _TESTS_NAMED.search(said)
            number = _COUNTS.get(tests[1]) or int(tests[1]) if tests else 0
            sort = "Holm" if "holm" in found[0] else "Bonferroni"
            at = 0 if re.search(r"\ball\b", said[: found.start() - begin]) else found.end()
            yield at, (sort, number)
        begin = end
