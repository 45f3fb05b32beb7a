"""What cannot be read, named: p-values without a statistic that is read, and problems by kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter

from repro.audit.findings import NAMED
from repro.audit.notations import ENDS, NUMBER, STATISTIC, P, is_statement, kind_of, plain
from repro.errors import Place, Problem
from repro.files import fatal

EXAMPLES = {
    "F": "F(2, 57) = 4.10, p = .022",
    "r": "r(48) = .31, p = .028, with n - 2 in parentheses",
    "ρ": "rs(48) = .31, p = .028, with n - 2 in parentheses",
    "χ²": "χ²(2, N = 90) = 7.20, p = .027",
    "H": "H(2) = 7.10, p = .029",
    "Q": "Q(3) = 8.10, p = .044",
}
EXAMPLE = "t(28) = 2.20, p = .036"
_NAMED_VALUE = re.compile(
    r"(?P<name>(?<![^\s=<>≈≤≥,;|&()\[\]])[^\s\d=<>≈≤≥,;|&()\[\]:][^\s=<>≈≤≥,;&()\[\]:]{0,20}"
    r"(?: (?:change|value|stat(?:istic)?|score|ratio))?)"
    rf"(?P<df> ?\([^()]*\))? ?[=<>≈] ?(?:{NUMBER}|[0-9]+(?:,[0-9]{{3}})+"
    r"|(?P<comma>-?[0-9]*,[0-9]+))"
)
_NO_STATISTIC = re.compile(r"(?i)p(?:[- ]?value)?|α|alpha|level|diff|!")
_NEXT_TO_ONE = re.compile(
    r"[nNkMmd]|[Dd][Ff]|SDs?|SEM?|[Ss]td|MSE|CI|Mdn|[Mm]eans?|[Mm]edian|η.*|R²?"
)
"""Numbers that stand between a statistic and its p."""
_OF_VALUES = re.compile(r"[UWVDTS]|τ\w?|tau(?:-?[abc])?|Mann-Whitney|[Ww]ilcoxon")
_SENTENCE = re.compile(r"[.;] (?=[A-Z†‡(])|\. (?=p\b)")
_MOST_BETWEEN, _LONGEST, _SHOWN = 60, 400, 60
_NUMBER_OF_P = rf"(?:0?[.,][0-9]+|[01](?:\.0*)?(?![.,]?[0-9]))|{NUMBER}[eE]-[0-9]+"
_ANY_P = re.compile(
    rf"{P.pattern}|(?<![\w-])(?:[pP](?:[rR](?:ob)?|[0-9₀-₉])?['’′″]?s?"
    r"(?:[-_. ]?(?:val(?:ue)?s?|trend|inter\w*|het\w*|non-?lin\w*|exact|(?:un)?(?:adj|corr)\w*"
    r"|perm\w*|boot\w*|bonf\w*|holm\w*|fdr\w*|fwe\w*|bh|sim\w*|raw|two|one|[FTtz]|chi2))*"
    r"(?: (?:for|of) (?:[\w-]+ ){0,2}[\w-]+)?(?: ?\([^()\n]{1,25}\)| ?> ?\|?(?:[tzF]|chi2)\|?)?"
    r"|(?:[Aa]symp\. |[Ee]xact )?Sig\.(?: ?\([^()\n]{1,25}\))?)"
    rf"(?:,? ?(?:[=<>≤≥≈~:⩽⩾≲≪]{{1,2}}|of|is|was|equals) ?(?:{_NUMBER_OF_P})|,? (?:0?\.[0-9]+))"
)
"""What may be a p, in whatever way it is printed."""
_NO_P = re.compile(r"dropout|probabilit\w*|bernoulli|binomial|nucleus|sampling")
_LEVEL = re.compile(
    r"\W?[pP](?:[-_ ]?(?:values?|adj\w*|corr\w*|fdr))?(?: of)?(?: less than| below|(?P<is> ?=)"
    r"| ?[<≤⩽]=?) ?0?\.(?:10?|050?|0{0,3}1|005)"
)
_OF_LEVELS = re.compile(
    r"considered (?:(?:as )?(?:\w+ )?signif|at)|threshold|\blevels?\b|alpha|\bcriteri(?:on|a)\b"
    r"|(?:denot|indicat)\w+:? (?:that )?(?:p\b|a p\b|(?:\w+ )?signif)|\bmark(?:s|ed)?\b|\bbold"
    r"|\bstars?\b|cut-?off"
    r"|asterisk|dagger|\bdefined (?:as|by|at)\b|\bset (?:at|to)\b|regarded|deemed|accepted|taken as"
    r"|significan\w+ (?:is|means|=)|\b(?:if|when|where) p\b"
)
"""Words of a sentence that says what counts as significant, or what a mark means."""
_LEGEND_ENDS = re.compile(
    r"[\s,;.)\]}$]*(?:$|[^\w\s]|[a-e1-9]\b|p\b|vs|against|compared|levels?\b|signif|two|one|by)"
)
"""What stands behind the p of a legend, up to its next part."""


def refuse_without_df(text: str, file: str) -> None:
    """SpecError for lines of text, no table, that print a statistic without degrees of freedom."""
    lines = [line for line in text.split("\n") if line.strip()]
    read = list(_unread(text, frozenset()))
    if not read or len({at for at, *_ in read}) * 2 < len(lines) or "±" in text:
        return
    at, found, shown = read[0]
    known = f"t, F, r, χ², H or Q as in {EXAMPLE}, or z"
    if found.re is _ANY_P:
        mistake, advice = f"{shown!r}: no statistic stands with this p", "write that of its test"
        raise fatal(Place(file, at, found.start() + 1), mistake, known, advice)
    name = _short(found["name"])
    mistake = f"{name} has no degrees of freedom"
    expected, advice = EXAMPLES.get(name, EXAMPLE), "write them in parentheses, as shown"
    if found["comma"]:
        mistake = f"{found['comma']} is not a plain number"
        advice = "write decimal points, and degrees of freedom in parentheses"
    elif _OF_VALUES.fullmatch(name):
        mistake = f"the p of {name} takes the values of every run"
        expected = known
        advice = "write the z of the test, if it is printed, as in z = 2.10, p = .036"
    elif _why(found) == _UNKNOWN:
        mistake = f"{name} is not a known statistic"
        expected, advice = known, "write that of its test"
    raise fatal(Place(file, at, found.start() + 1), mistake, expected, advice)


def not_read(
    text: str, ends: frozenset[tuple[int, int]] = frozenset(), problems: Sequence[Problem] = ()
) -> tuple[str, ...]:
    """What of a text is not read, each with its line, and why.

    ``ends`` are where each p ends that is read, and ``problems`` the statistics that are not plain.
    """
    told = [(at, f"{shown} ({_why(each)})") for at, each, shown in _unread(text, ends)]
    told += [(each.place.line or 0, f"{each.what}: write {each.expected}") for each in problems]
    judged = {at for at, end in ends if end}
    told += [
        (at, f"{said} (in {_ELSEWHERE})") for at, said in _in_columns(text) if at not in judged
    ]
    told = list(dict.fromkeys(sorted(told, key=itemgetter(0))))
    return tuple(f"line {at}, {said}" for at, said in told)


def sentence_on(unread: Sequence[str]) -> Iterator[str]:
    """The sentence that names what is not read, the first of many; none on nothing."""
    if unread:
        more = f"; and {len(unread) - NAMED} more" if len(unread) > NAMED else ""
        in_table = " Paste each such table alone." if _ELSEWHERE in " ".join(unread) else ""
        yield f"Not read: {'; '.join(unread[:NAMED])}{more}.{in_table}"


_ELSEWHERE = "a table that is not read"
_HEAD_OF_P = re.compile(
    r"(?i)(?:(?:exact|asymp\w*\.?|(?:two|2)[- ](?:sided|tailed)|adj\w*\.?) ?)?"
    r"(?:p|prob|sig\.?|p[-_. ]?(?:val(?:ue)?s?|adj\w*|corr\w*|unc|tukey|holm|bonf\w*)\.?)"
    r"(?:[ _]?[(\[].{0,25}|[ _](?:vs|for|of)\b.{0,25})?"
)
_TAIL = re.compile(r"(?i)(?<![\w.])Pr?(?:ob)? ?\(? ?> ?\\?\|?(?:[tzf]|chi-?sq|chi2)\\?\|? ?\)?")
"""`Pr(>|t|)`, whose bars do not end cells."""
_LONGEST_ROW = 4_000
_P_CELL = re.compile(rf"[<>=≤≥ ]*(?:{_NUMBER_OF_P})[*.†‡§ a-z]{{0,4}}")
_ALIGNED = re.compile(
    r"(?i)(?:^|\s)(?:[tfzrbn]|[dD][fF]|\S*stat\w*|\S*value|\S*ratio|coef\w*|est\w*)\s"
)
_ROW = re.compile(r"(?is)<tr\b.{0,4000}?</tr\s*>|(?<=\\\\)[^\\]{0,2000}&.{0,2000}?\\\\")


def _in_columns(text: str) -> Iterator[tuple[int, str]]:
    """Each p in a column that is headed so, with its line and the name of its row."""
    text = _ROW.sub(lambda row: row[0].replace("\n", " ") + "\n<tr>" * row[0].count("\n"), text)
    sign, place, width, begun = "", 0, 0, False
    for at, whole in enumerate(text.split("\n"), 1):
        for line in re.split(r"(?i)</tr\s*>|\\\\", _TAIL.sub(_padded, whole)):
            if not line.strip() or re.match(r"\s*Signif", line):
                sign = "" if begun and not whole.strip() else sign
                continue
            if (head := _head_of_p(line)) is not None:
                sign, place, width = head
                begun = False
            elif sign and (cell := _below(line, sign, place, width)):
                begun = True
                name = next(filter(re.compile("[^\\W\\d]").search, cell[1:]), "")[:30]
                yield at, f"{name}, p {cell[0]}".lstrip(", ")


def _padded(found: re.Match[str]) -> str:
    return "p".rjust(len(found[0]))


def _cut(line: str, sign: str) -> list[str]:
    if "<t" in line:
        line = re.sub(r"(?i)</t[dh]\s*>", "|", line)
    cells = re.split(r"(?<!\\)" + re.escape(sign), line)
    return [plain(cell).strip(' "') for cell in cells]


def _head_of_p(line: str) -> tuple[str, int, int] | None:
    """What separates the cells of a head with a p, its place, and how many cells there are.

    Places are counted from the left edge of the line where blanks line cells up.
    """
    if len(line) > _LONGEST_ROW or not re.search(r"(?i)(?<![a-z])(?:p|sig)", line):
        return None
    for sign in "|\t&;,":
        cells = _cut(line, sign)
        at = [place for place, cell in enumerate(cells) if _HEAD_OF_P.fullmatch(cell)]
        if at and len(cells) > 2 and "F1" not in cells:
            return sign, at[0], len(cells)
    for word in re.finditer(r"(?<!\S)\S+(?: \([^()]*\))?", line):
        before = line[: word.start()]
        aligned = before.endswith("  ") or _ALIGNED.search(before)
        if (
            aligned
            and _HEAD_OF_P.fullmatch(word[0])
            and not re.match(r" ?[=<>≤≥]| \w+ \w+ ", line[word.end() :])
        ):
            return " ", word.start(), word.end()
    return None


def _below(line: str, sign: str, place: int, width: int) -> list[str]:
    """The p in a row below such a head, and its other cells; empty for another line."""
    if sign != " ":
        cells = _cut(line, sign)
        at = place if len(cells) == width else len(cells) - width + place
        found = cells[at : at + 1] if len(cells) > 1 and at >= 0 else []
    else:
        line = re.sub(r"< (?=[.0-9])", " <", line)
        words = list(re.finditer(r"\S+", line))
        cells = [word[0] for word in words]
        found = [w[0] for w in words if w.start() <= width and w.end() >= place][:1]
        found = found if sum(bool(re.search("[0-9]", cell)) for cell in cells) > 1 else []
    return [*found, *cells] if found and _P_CELL.fullmatch(found[0]) else []


_UNKNOWN = "not a known statistic: print its t, F, χ² or z"


def _last_words(said: str) -> str:
    """The last words of a text, of one sentence."""
    said = re.split(r"\. (?=[A-Zp])", said)[-1]
    return said if len(said) < _SHOWN else said[-_SHOWN:].partition(" ")[2]


def _why(found: re.Match[str]) -> str:
    if found.re is _ANY_P:
        return "no statistic stands with this p: print its t, F, χ² or z"
    name = _short(found["name"])
    if _OF_VALUES.fullmatch(name):
        return "its p takes every value: print its z"
    if name in ("t", *EXAMPLES) and not found["df"]:
        return f"no degrees of freedom: write {EXAMPLES.get(name, EXAMPLE)}"
    if (read := STATISTIC.match(found[0].strip())) and (read["df"] or name == "z"):
        return f"write it as {EXAMPLE}, in a file without tables"
    return _UNKNOWN


def _short(name: str) -> str:
    """The symbol of a statistic that is called `F change` or `t-value`."""
    return kind_of(re.split(r"[ -](?=change|value|stat|score|ratio)", name)[0])


def _unread(
    text: str, ends: frozenset[tuple[int, int]]
) -> Iterator[tuple[int, re.Match[str], str]]:
    """What stands before each p that is not among those read, or that p; its line, and both."""
    above = ""
    for at, below in enumerate(plain(text).split("\n"), 1):
        since = max((p.end() for p in P.finditer(above)), default=0)
        line = f"{above} {below}" if above else below
        for p in _ANY_P.finditer(line, len(above)):
            begin, since = since, p.end()
            here = range(p.start() - len(line) + 1, p.end() - len(line) + 1)
            if any((at, len(below) + end) in ends for end in here):
                continue
            if (found := _before(line, begin, p.start())) is not None:
                yield at, found, found[0].strip()
            elif not p["words"] and not p["bare"] and not _is_level(p, begin):
                shown = _last_words(line[begin : p.end()]).lstrip(" ,;()[]|&")
                yield at, p, shown + ")" * (shown.count("(") - shown.count(")"))
        above = below if re.search(r"[,;(=<>]\s*$", below) else ""


def _is_level(p: re.Match[str], begin: int) -> bool:
    """Whether a p is not a result but the level of a mark, or of what counts as significant."""
    before = p.string[max(begin, p.start() - _LONGEST) : p.start()]
    after = p.string[p.end() : p.end() + _LONGEST]
    if _NO_P.search(before[-_SHOWN:].lower()) or re.search(r"[†‡§+#] ?[=:]?$", before):
        return True
    said = before.rpartition(". ")[2] + p[0] + after.partition(". ")[0]
    level = _LEVEL.fullmatch(p[0])
    alone = _LEGEND_ENDS.match(after) and not re.search(
        r"\d|[^\W\d_]{2}", re.sub(r"(?i)\b(?:notes?|legend|signif\w*)\b", "", before)
    )
    of_levels = _OF_LEVELS.search(said.lower()) is not None
    return level is not None and (of_levels or bool(alone and not level["is"]))


def _before(line: str, begin: int, end: int) -> re.Match[str] | None:
    """The last named number in the words before a p that belongs to no statistic read."""
    begin = max(begin, end - _LONGEST)
    begin = max([begin, *(each.end() for each in _SENTENCE.finditer(line, begin, end + 2))])
    read = [each for each in STATISTIC.finditer(line, begin, end) if is_statement(each)]
    if read:
        after = ENDS.search(line, read[-1].end(), end)
        begin = read[-1].start() if after is None else after.start()
    named = [
        each
        for each in _NAMED_VALUE.finditer(line, begin, end)
        if end - each.end() <= _MOST_BETWEEN and not _NO_STATISTIC.fullmatch(each["name"])
    ]
    sure = [each for each in named if not _NEXT_TO_ONE.fullmatch(each["name"])]
    return next(reversed(sure or named), None)


FIRST = 3


def gathered(problems: Iterable[Problem]) -> list[Problem]:
    """The problems in reading order; those of one kind, whatever they quote, are one."""
    kinds: dict[tuple[str, str], list[Problem]] = {}
    for each in sorted(problems):
        kinds.setdefault((re.sub("'[^']*'", "", each.what), each.advice), []).append(each)
    return [_together(first, [each.place for each in rest]) for first, *rest in kinds.values()]


def _together(first: Problem, places: Sequence[Place]) -> Problem:
    if not places:
        return first
    named = ", ".join(f"{place.line}:{place.column}" for place in places[:FIRST])
    more = f" and {len(places) - FIRST} more" if len(places) > FIRST else ""
    return replace(first, what=f"{first.what}; likewise {named}{more}")
