"""What a cell of a printed table says: a mean, its spread, what else is in brackets, and stars.

What stars and daggers mean, and of what comparison they are, is in the notes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple, TypeAlias

from repro.audit.comparison import NOT_SIGNIFICANT
from repro.audit.notations import NAMES, NUMBER
from repro.audit.printed_words import ACCURACY_KNOWN, TURNED, Better, Meaning, way
from repro.errors import ClaimError
from repro.evidence.published import PrintedNumber

_NUMBER = r"[-+\N{MINUS SIGN}]?(?:[0-9][0-9,]*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?"
_UNITS = (
    r"ms|s|secs?\.?|seconds?|m|mins?\.?|minutes?|h|hrs?|hours?|d|days?|x|×|k|M|B|[MG]B|[MGT]?FLOPs"
    r"|params?|epochs?|steps?|layers?"
)
"""What a number in brackets is of where it is not a spread: a time, a size; so is a sign."""

_OF_SPREADS = (
    rf"{_UNITS}|[mµμun]s|dB|[kMG]?Hz|[mk]?[JW]|nats?|bits?|bp[bcd]|pp|pts?|points?|°C?|[mck]m|[mk]?g"
    r"|TB|fps|(?:tok(?:en)?s?|it|img|images|samples)/s"
)
"""What a value with its spread may be measured in."""

_SIGN = r"[-+\N{MINUS SIGN}\N{UPWARDS ARROW}\N{DOWNWARDS ARROW}](?![-+/])"
_ENDS = rf"(?P<low>{_NUMBER}) ?(?:,|;|to|\N{{EN DASH}}|-| ) ?(?P<high>{_NUMBER})"
INTERVAL = re.compile(rf"[\[(]? ?{_ENDS} ?%?[\])]?", re.IGNORECASE)
VALUE = re.compile(
    rf"(?P<mean>{_NUMBER}) ?(?:%|(?:{_OF_SPREADS})(?= ?(?:±|\+/-)))?"
    rf"(?: ?(?:±|\+/-|\+-|(?P<below>_(?![0-9]{{3}}(?![0-9.]))))"
    rf" ?(?P<spread>{_NUMBER})(?: ?%| ?(?P<unit>{_OF_SPREADS}))?"
    rf"(?: ?\((?P<after>{_SIGN} ?{_NUMBER} ?%?|{_NUMBER} ?(?:{_UNITS}))\))?"
    rf"(?: ?[(\[]n ?= ?(?P<n>[0-9]{{1,6}})[)\]])?"
    rf"| ?\( ?(?P<other>{_SIGN} ?{_NUMBER} ?%?|{_NUMBER} ?(?:{_UNITS})) ?\)"
    rf"| ?\( ?(?:(?:±|\+/-|\+-|sd|std|se|s\.d\.|s\.e\.) ?=? ?)?(?P<inside>{_NUMBER}) ?%?\)"
    rf"| ?[\[(]{_ENDS}[\])])?",
    re.IGNORECASE,
)
TWO = re.compile(rf"{_NUMBER} ?/ ?{_NUMBER}")
"""Two numbers in one cell, of which neither can be taken."""


@dataclass(frozen=True, slots=True)
class PrintedValue:
    """A mean with its spread, the stars behind it, and whether it is bold.

    ``spread`` is what follows ± or stands in parentheses: a deviation, an error, half an interval.
    ``meaning`` of it, ``n`` and ``test`` are what its cell, row or column says of it alone.
    ``uneven`` is whether its interval is asymmetric, so that no error follows from its width.
    """

    mean: PrintedNumber
    spread: PrintedNumber | None = None
    stars: str = ""
    bold: bool = False
    meaning: Meaning | None = None
    percent: bool = False
    n: int | None = None
    test: str = ""
    uneven: bool = False


_MARKS = re.compile(
    r"[†‡§¶•∙●○◦★☆✓✔✗🥇🥈🥉]"
    r"|(?<=[0-9)%])(?<!10)(?:\^\{?[a-z0-9]{1,2}\}?|<sup>[\w, ]{1,9}</sup>|\[\^\w{1,9}\]"
    r"|[\N{SUPERSCRIPT ONE}\N{SUPERSCRIPT TWO}\N{SUPERSCRIPT THREE}ᵃᵇᶜᵈᵉ])(?![\w.])"
)
_LETTERS = re.compile(r"(?<=[0-9)%]) ?([a-h](?:,? ?[a-h]){0,3})$")
_OF_LETTERS = re.compile(r"(?:^|[;.,] )\W{0,3}([a-h])(?=[):=. ])")
_TAGS = re.compile(r"</?(b|strong|u|i|em|span|small)(?: [^<>]*)?>")
_AFTER = re.compile(
    r"([-+\N{MINUS SIGN}(0-9<>=.][^a-z]*[0-9).%\]]) ?\(?n\.? ?s\.?\)?$", re.IGNORECASE
)


def bare(text: str) -> tuple[str, bool, str]:
    """A text without bold marks, footnotes and stars; whether it was bold; its stars."""
    text = _TAGS.sub(lambda tag: "**" if tag[1] in ("b", "strong") else "", text)
    bold = text.startswith(("**", "__"))
    if bold:
        text = re.sub(r"(\*\*|__)(.+?)\1", r"\2", text)
    text = re.sub(r"^(\*|_)(.+)\1$", r"\2", text)
    text = re.sub(r"^\(([^()]*(?:±|\+/-)[^()]*)\)", r"\1", text)
    text = re.sub(r"<sup>([*†‡§]{1,4})</sup>", r"\1", text)
    text = re.sub(r" ?<(su[bp])> ?\(?((?:±|\+/-) ?[0-9.]+%?)\)? ?</\1>", r" \2", text)
    text = re.sub(r"(?<=[0-9)%]) ?\(([*†‡§]{1,4})\)$", r"\1", text)
    text = re.sub(r"(?<=[0-9*]) ?<sub>([0-9.]+)</sub>", r"_\1", text)
    if not text[:1].isdigit():  # the name of a row: 10<sup>3</sup> is not 103
        text = re.sub(r"</?su[bp]>", "", text)
    text = text.replace(r"\*", "*")
    stars = "".join(re.findall(r"(?<=[0-9).%\] ])[*†‡§]+", text))
    text = _MARKS.sub("", text)
    if not stars and (found := _AFTER.match(text)) is not None:
        return found[1], bold, NOT_SIGNIFICANT.text
    return re.sub(r"(?<=[0-9).% \]])\*+", "", text).strip(), bold, stars


def without_letters(text: str, notes: Sequence[str]) -> str:
    """A result without the letters of footnotes behind it, where notes say what these mean."""
    found = _LETTERS.search(text)
    if found is None or not is_number(bare(text[: found.start()])[0]):
        return text
    known = {letter for note in notes for letter in _OF_LETTERS.findall(note)}
    any_of = any(re.search(r"\bletters?\b", note, re.IGNORECASE) for note in notes)
    told = any_of or {*re.findall("[a-h]", found[1])} <= known
    return text[: found.start()] if told else text


def is_number(text: str) -> bool:
    return bool(VALUE.fullmatch(text) or TWO.fullmatch(text))


def is_result(text: str) -> bool:
    """Whether a cell has a number and cannot be a header, as 2018 may."""
    number, *_ = bare(text)
    if re.match(rf"{_NUMBER} ?%? ?(?:±|\+/-) ?[0-9.]", number):
        return True
    return bool(VALUE.fullmatch(number)) and not re.fullmatch(r"[0-9]{4}", number)


def has_spread(text: str) -> bool:
    found = VALUE.fullmatch(text)
    if found is None:
        return re.search(r"±|\+/-|\+-|[(\[]", text) is not None
    return any(found[each] for each in ("spread", "inside", "low"))


def number_of(text: str) -> PrintedNumber:
    number = PrintedNumber.read(text.lstrip("+"))
    if 0 < abs(number.value) < 1e-100:
        raise ClaimError(f"{text!r} is smaller than any mean that is printed")
    return number


def half_of(mean: PrintedNumber, found: re.Match[str]) -> PrintedNumber | None:
    """Half of an interval; None where its mean is not in the middle, so that it is none of a t.

    ClaimError where the mean is outside. Between ends, -- may be a dash and not a minus.
    """
    low, high = number_of(found["low"]), number_of(found["high"])
    if not low.value <= mean.value <= high.value and "--" in found[0]:
        high = number_of(found["high"].lstrip("-"))
    if not low.value <= mean.value <= high.value:
        raise ClaimError(f"{found[0]!r}: the mean lies outside of its interval")
    half, slack = (high.value - low.value) / 2, low.half + high.half + mean.half
    if half <= 0 or abs(low.value + half - mean.value) > slack + half / 10:
        return None
    return PrintedNumber(f"{half:.6g}", half, max(low.half, high.half))


def spread_of(found: re.Match[str]) -> tuple[PrintedNumber | None, Meaning | None]:
    """The spread of a mean: half of an interval that is printed with both its ends."""
    if found["low"]:
        half = half_of(number_of(found["mean"]), found)
        return half, None if half is None else Meaning("ci95")
    text = found["spread"] or found["inside"]
    if text is None:
        return None, None
    if found["inside"] and text.isdecimal() and "." in found["mean"]:
        raise ClaimError(
            f"{found[0]!r} may mean ±{text}, or {text} units of the last digit",
            advice="write it as 93.4±0.2",
        )
    spread = number_of(text)
    if spread.value < 0:
        raise ClaimError(f"a deviation is not negative, and {text} is")
    of_count = re.fullmatch(r"[0-9,]+ ?\([^(%]*%\)", found[0])  # 40 (50 %)
    return spread, Meaning("other") if of_count else None


def better_by_bold(values: Sequence[PrintedValue]) -> Better | None:
    """Which way is better where every bold value lies on one side of all others."""
    bold = [value.mean.value for value in values if value.bold]
    others = [value.mean.value for value in values if not value.bold]
    if not bold or not others:
        return None
    if min(bold) > max(others):
        return "higher"
    return "lower" if max(bold) < min(others) else None


Groups: TypeAlias = Mapping[str, Mapping[Any, PrintedValue]]
"""The values that are compared with each other, by their methods."""


class Ways(NamedTuple):
    """Which way is better in each group, where higher is only likely to be, what bold said."""

    better: dict[str, Better]
    likely: tuple[str, ...]
    said: str


def ways(groups: Groups, notes: Sequence[str]) -> Ways:
    """Which way is better by names, notes or bold; and where higher is only likely to be."""
    caption = " ".join(notes)
    named = {
        name: better
        for name in groups
        if (better := way(name) or way("" if TURNED.search(name) else caption))
    }
    by_bold = {
        name: better
        for name, values in groups.items()
        if (better := better_by_bold([*values.values()]))
    }
    unsaid = {name: better for name, better in by_bold.items() if name not in named}
    said = ""
    of_best = re.search(r"\bbest\b[^.]{0,40}\bbold|\bbold\w*[^.]{0,40}\bbest\b", caption.lower())
    if unsaid and (doubt := _of_bold(groups, named, by_bold, best=bool(of_best))):
        unsaid, said = {}, f"{doubt}, so bold is not taken for the best."
    elif unsaid:
        way_of = next(iter(unsaid.values()))
        turned = "lower" if way_of == "higher" else "higher"
        where = "" if len(unsaid) == len(groups) else f" in {', '.join([*unsaid][:3])}"
        where += f" and {len(unsaid) - 3} more" if where and len(unsaid) > 3 else ""
        said = (
            f"{way_of.capitalize()} is taken to be better{where}, by what is in bold: --better "
            f"{turned} turns it."
        )
    found = named | unsaid
    left = {name: [*values.values()] for name, values in groups.items() if name not in found}
    likely = tuple(name for name, values in left.items() if _is_accuracy(name, values))
    return Ways(found | dict.fromkeys(likely, "higher"), likely, said)


def _of_bold(
    groups: Groups, named: Mapping[str, Better], by_bold: Mapping[str, Better], *, best: bool
) -> str:
    """Why bold does not say what is the best, if it may be there to show one method.

    Where a note says that the ``best`` is in bold, it may be of one method.
    """
    bold = [
        (name, method)
        for name, values in groups.items()
        for method, value in values.items()
        if value.bold
    ]
    if not best and len(bold) > 1 and len({method for _, method in bold}) == 1:
        return "All that is bold is of one method"
    if any(named.get(name, better) != better for name, better in by_bold.items()):
        return "Bold is not on the best where a name or the text says which way is better"
    if len({better for name, better in by_bold.items() if name not in named}) > 1:
        return "Bold is on the highest here and on the lowest there"
    return ""


def _is_accuracy(name: str, values: Sequence[PrintedValue]) -> bool:
    """Whether most values are above one half, in percent or on a data set known for accuracy."""
    if TURNED.search(name) or way(name) == "lower":
        return False
    known = ACCURACY_KNOWN.match(name.lower()) is not None
    if not values or not (known or any(value.percent for value in values)):
        return False
    middle = median(value.mean.value for value in values)
    return 50 < middle <= 100 or 0.5 < middle <= 1


_AGAINST = (
    r"\b(?:against|vs\.?|versus|compared (?:to|with)|relative to|with respect to|than|over"
    r"|(?:different|differs?) (?:from|to)|in comparison (?:to|with)|w\.?r\.?t\.?|outperform\w*)"
)


def marks_told(said: str) -> str:
    """A sentence on a mark other than stars, where the text says that it means a p-value."""
    found = re.search(r"([†‡§])[^.;|†‡§]{0,60}(?:signific|\bp ?[<≤])", said)
    open_ = found is not None and found[1] not in legend_told(said)
    return f"What {found[1]} says of significance is not checked." if found and open_ else ""


_ON_TESTS = re.compile(
    r"signific|\bp\b|\*|\bt[- ]?tests?\b|\bwelch|\bstudent['’]|wilcoxon|\bp[- ]?values?\b",
    re.IGNORECASE,
)
_OTHER_SIDE = re.compile(
    rf"(?:{_AGAINST}|\bcompar\w+ [^.;]{{1,40}}? (?:with|to)|\bdifferences? (?:to|from))"
    r" ((?:[\w'’-]+ ?){1,4})",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    r"\b(?:previous|preceding|prior|next|above|below|best|strongest|top|second|runner|closest"
    r"|nearest|(?:its|their)(?! (?:baseline|control))|ablation|adjacent"
    r"|competitors?|rows?|steps?|state|sota)\b",
    re.IGNORECASE,
)


def against_told(methods: Sequence[str], notes: Sequence[str]) -> str:
    """The words on what p or stars are against, where they name another row for each, or several.

    Empty where they name one method, or none.
    """
    if compared_with(methods, notes):
        return ""
    said = [part for note in notes for part in re.split(r"[.;] ", note.replace("vs.", "vs"))]
    sides = [side for part in said if _ON_TESTS.search(part) for side in _OTHER_SIDE.findall(part)]
    named = [side for side in sides if any(side.startswith(name) for name in methods if name)]
    found = [side for side in sides if _ANOTHER.search(side)]
    return next(iter(found), " and ".join(dict.fromkeys(map(str.strip, named)))).strip()


def compared_with(methods: Sequence[str], notes: Sequence[str]) -> str:
    """The one method that a text on p or stars says is the other side of the comparison."""
    told = [note for note in notes if _ON_TESTS.search(note)]
    names = "|".join(map(re.escape, sorted(filter(None, methods), key=len, reverse=True)))
    against = re.compile(rf"{_AGAINST} (?:the |our )?({names})(?![\w-])", re.IGNORECASE)
    found = {each.lower() for note in told for each in against.findall(note)} if names else set()
    return next((name for name in methods if {name.lower()} == found), "")


_WITHOUT_STAR = re.compile(
    r"(?i)\b(?:no|without(?: an?| any)?) (?:stars?|marks?|asterisks?|daggers?)\b"
    r"|\bun(?:mark|starr)ed\b|\bn\.?s\.?(?:\b|(?=\W|$))"
)


def stars_of(notes: Sequence[str]) -> str:
    """`best` or `better` where the sentence on stars says that only such values have them.

    `all` where the words say what a value without one is.
    """
    if any(_WITHOUT_STAR.search(note) for note in notes):
        return "all"
    parts = [part for note in notes for part in re.split(r"[.;] ", note.replace("vs.", "vs"))]
    said = " ".join(each for each in parts if re.search(r"[*†‡]|\bp ?[<≤]|signific", each)).lower()
    if re.search(r"\bbest\b|\btop\b|runner|\bonly\b|\bours?\b", said):
        return "best"
    ways = r"better|improv|outperform|gain|superior|higher|greater|increas|exceed|lower|reduc|beat"
    return "better" if re.search(rf"\b(?:{ways})", said) else ""


def tested_told(methods: Sequence[str], notes: Sequence[str]) -> str:
    """The one method that p are said to compare with another that is named, as `Ours vs Base`."""
    other = re.escape(compared_with(methods, notes))
    names = "|".join(map(re.escape, sorted(filter(None, methods), key=len, reverse=True)))
    pair = rf"(?<![\w-])({names}) {_AGAINST} (?:the |our )?{other}(?![\w-])"
    said = " ; ".join(note for note in notes if _ON_TESTS.search(note))
    found = {each.lower() for each in re.findall(pair, said, re.IGNORECASE)} if other else set()
    return next((name for name in methods if {name.lower()} == found), "")


_LISTED = r"(?:[ ,/()]|\band\b|\bor\b)+"
_SYMBOL = r"(?:\*{1,4}|[†‡§]{1,2})(?![*†‡§])"
_STARS = re.compile(
    rf"(?<![a-z*†‡§])({_SYMBOL})(?=\W|$|p\b|signif|statist|denot|indic|mark|mean|better|differ)"
)
_LEVEL = re.compile(
    r"\bp(?:[- ]?values?)?(?: is| of)? ?"
    r"(?:[<≤]=?|below|under|(?:less|smaller|lower) than) ?(?P<p>0?\.\d+)"
    r"|(?:α|\balpha) ?[=<] ?(?P<alpha>0?\.\d+)|(?<![\w.])(?P<level>0?\.\d+)[- ]\w* ?level"
    r"|(?<![\w.])(?P<percent>\d\d?(?:\.\d)?) ?% (?:(?:significance |confidence )?level"
    r"|significance|confidence(?! (?:interval|limit|bound|band|region)))"
)
_WITHIN = r"(?:[^.;*†‡§]|\.(?![ \n]|$)|(?<=\bvs)\.|(?<=w\.r\.t)\.)"
_FORWARD = re.compile(rf"{_WITHIN}{{0,120}}")
_BACKWARD = re.compile(
    r"\)?,?(?: (?:is|are))?(?:[^.;*†‡§]{0,60}?\b(?:mark|denot|indicat|show|flag|label)\w*"
    r"(?: with| by| as| using)?(?: an?| the)?)? ?[:=]? ?\(?"
)
_LIST_OF_LEVELS = re.compile(
    r"[^.;*†‡§]{0,40}?(?:\bp ?[<≤] ?|\bsignifican[^.;*†‡§]{0,30}?\b(?:at|of) (?:the )?)"
    rf"((?:(?:0?\.\d+|\d\d? ?%)(?:{_LISTED}|p ?[<≤] ?)*)+)"
)
_NOT = re.compile(r"\b(?:no|not|non|neither|without)\b|insignific")
_IN_ITALICS = re.compile(r"(?<![\w*])\*(?=[a-z])([^*\n]{1,300}(?<=[a-z.)]))\*(?![\w*])")
_IN_WORDS = re.compile(
    r"\b(?:(single|one|double|two|triple|three) )?(asterisk|star|dagger)s?\b(?! ?\([*†‡])"
)


def legend_told(said: str) -> dict[str, PrintedNumber]:
    """What stars and daggers mean, where the notes say it, each apart or all together.

    `* p < .05`, `* marks a significant gain (p < .05)`, or `p < .05 (*)` where a level is first.
    """
    said = _IN_WORDS.sub(_as_symbol, _IN_ITALICS.sub(r"\1", said.replace("\\*", "*")))
    marks = list(_STARS.finditer(said))
    levels = list(_LEVEL.finditer(said))
    listed = {
        at
        for at, each in enumerate(marks[1:], 1)
        if re.fullmatch(_LISTED, said[marks[at - 1].end() : each.start()])
    }
    alone = [mark for at, mark in enumerate(marks) if not {at, at + 1} & listed]
    found = dict(_told_after(said, alone, levels))
    for first in sorted(at - 1 for at in listed if at - 1 not in listed):
        last = next(at for at in range(first + 1, len(marks) + 1) if at not in listed)
        names = [each[1] for each in marks[first:last]]
        ps = _LIST_OF_LEVELS.match(said, marks[last - 1].end())
        numbers = re.findall(r"(0?\.\d+)|(\d+)", ps[1]) if ps else []
        if len(numbers) == len(names):
            shares = [p or f"{int(percent) / 100:g}" for p, percent in numbers]
            found |= {name: _below(p) for name, p in zip(names, shares, strict=True)}
    return found


def _as_symbol(word: re.Match[str]) -> str:
    times = {"double": 2, "two": 2, "triple": 3, "three": 3}.get(word[1] or "", 1)
    return ("‡" if times == 2 else "†") if word[2] == "dagger" else "*" * times


def _below(p: str) -> PrintedNumber:
    return PrintedNumber.read(f"<{p}")


def _told_after(
    said: str, marks: Sequence[re.Match[str]], levels: Sequence[re.Match[str]]
) -> Iterator[tuple[str, PrintedNumber]]:
    """Each mark with the level that is said of it: behind it, or before where a level is first."""
    before = [
        (mark, level)
        for level in levels
        if (mark := _next(marks, level.end()))
        and _BACKWARD.fullmatch(said, level.end(), mark.start())
    ]
    first = min((mark.start() for mark in marks), default=0)
    if before and before[0][1].start() < first:
        both = [
            (mark, level, re.split(r"[.;] ", said[: level.start()])[-1]) for mark, level in before
        ]
    else:
        both = [
            (mark, level, said[mark.end() : level.start()])
            for mark in marks
            if said[mark.start() - 1 : mark.start()] not in (*"0123456789)",)
            and (level := _next(levels, mark.end()))
            and _FORWARD.fullmatch(said, mark.end(), level.start())
        ]
    for mark, level, words in both:
        sure = level["p"] or re.search(r"signific|differ|better|worse|improve", words + level[0])
        if sure and not _NOT.search(words):
            yield mark[1], _below(_share(level))


def _next(found: Sequence[re.Match[str]], at: int) -> re.Match[str] | None:
    """The first match that begins there or later."""
    place = bisect_left(found, at, key=lambda each: each.start())
    return found[place] if place < len(found) else None


def _share(level: re.Match[str]) -> str:
    """The level as a share: 5 % and 95 % are both .05."""
    if not level["percent"]:
        return level["p"] or level["alpha"] or level["level"]
    percent = float(level["percent"])
    return f"{min(percent, 100 - percent) / 100:.6g}"


_STARRED = re.compile(
    rf"(?P<said>(?:{NAMES}) ?\([^()\n]{{1,40}}\) ?[=<>] ?{NUMBER})"
    r"(?P<stars>\*{1,4}|[†‡§]{1,2})(?![\w*])(?![,;]? ?\(?[*_$]*[pP]\b)"
)


def with_levels(text: str) -> str:
    """`t(28) = 2.20 p < .05` for `t(28) = 2.20*`, where a legend says it and no p follows."""
    legend = legend_told(text.lower())

    def said(found: re.Match[str]) -> str:
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        level = legend.get(found["stars"])
        bold = re.search(rf"(?<![^\s(|]){re.escape(found['stars'])}(?!\*)[^*]*$", before)
        return found[0] if level is None or bold else f"{found['said']} p {level.text}"

    return _STARRED.sub(said, text) if legend else text
