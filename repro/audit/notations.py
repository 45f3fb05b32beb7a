"""The ways in which a statistic is written -> one: `t(28) = 2.20, p = .036`, in the same lines.

LaTeX, Markdown, HTML, subscripts, what R prints in one line, and statistics over two lines.
"""

from __future__ import annotations

import html
import re

NUMBER = r"[-\N{MINUS SIGN}]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?(?![.,]?[0-9])"
_WITH_P = (
    r"(?= ?\((?:df ?= ?)?[0-9]{1,3}(?:[,;] ?[Nn] ?= ?[0-9,]+)?\) ?[=<>]"
    r"[^\n]{1,60}\n?[^\n]{0,8}(?:\b[pP]\b|\bn\.?s))"
)
_BY_CHI = rf"(?:Q[A-Za-z]{{1,8}}|LRT?|G²?|Wald){_WITH_P}"
"""Q of groups or of a model in a meta-analysis, and ratios of likelihoods."""
_BY_RANKS = rf"[HQ]{_WITH_P}|(?:ρ|rho|rs)(?= ?\()"
"""Kruskal-Wallis and Cochran, with a p: H(X) is an entropy, and Q(1) a quartile or a value."""
NAMES = (
    r"(?:[tF][12](?= ?\()|t|F|r|z|Z|(?:χ|X|[Cc]hi-?)(?:²|\^?2)"
    rf"|{_BY_RANKS}|{_BY_CHI}|q(?= ?\([0-9]{{1,2}}, ?[0-9]+\) ?[=<>]))"
)
STATISTIC = re.compile(
    rf"(?<![\w/.-])(?P<name>{NAMES}) ?(?:\((?P<df>[^()]{{1,40}})\) ?)?"
    rf"(?P<is>[=<>]) ?(?P<value>{NUMBER})"
)
OPENED = re.compile(rf"(?<![\w/.-]){NAMES} ?\([^()\n]{{1,40}}\) ?[=<>]")


P = re.compile(
    r"(?:^|[\s,;:(\[])(?:(?:two|one|2|1)[- ](?:tailed|sided) |\w*[- ]?(?:adjusted|corrected) )?"
    r"(?:(?P<above>0?\.[0-9]+) ?[<≤] ?)?"
    r"(?:[pP](?:['’]?s|[-_. ]?(?i:val(?:ues?|\b\.?)|adj\w*|(?:un)?corr\w*|bonf\w*|holm|fdr|fwe"
    r"|tukey|(?:one|two|[12])[- ]tailed))?|Sig\.)"
    r"(?: ?\((?:\w+[- ])?\w+\))?(?: of| approx\.?|(?: is| was)?(?: equal to)?) ?"
    rf"(?:(?P<p>[=<>≤≥≈:] ?(?:{NUMBER}|0?,[0-9]+|[0-9]*(?:\.[0-9]+){{2,}})|0?\.[0-9]+)"
    r"|= ?(?P<ns>[nN]\.?[sS]\.?(?!\w)))"
    r"|[,;(] ?(?P<bare>[nN]\.?[sS]\.?)(?!\w)"
    r"|(?:[,;(] ?|is |was )(?P<words>(?:not |non-?|in)significant)"
)
ENDS = re.compile(
    r"[|&\t\n]|\. (?=[A-Z])|; (?!(?:[PN]|CI|S[DE]|MSE)\b)(?=[A-Z])|; ?r ?[=<>]"
    r"|; ?(?!(?:[pPnNdg]|CI|S[DE]|MSE|df)\b)\w+ ?="
    rf"|(?<![\w/.-])(?!r ?[=<>]){NAMES} ?[=<>]"
)
"""Where what is said of a statistic ends; `, r = .31` is the size of its effect."""


_BETWEEN = re.compile(r"(?<!\w)(?!(?:r|d|g|n|N|CI|S[DE]|OR)\b)[^\W\d_]\w* ?(?:\([^()]*\) ?)?[=<>]")
"""Another number than the size of an effect: what follows is said of that."""


def is_statement(found: re.Match[str]) -> bool:
    """Whether a statistic has degrees of freedom, or is a z with a p that is said of it.

    z may be any number, or a place: `x = 12, y = -3, z = 45`.
    """
    if found["df"] is not None:
        return True
    before, after = found.string[: found.start()][-40:], found.string[found.end() :][:120]
    if kind_of(found["name"]) != "z" or re.search(r"\by ?= ?[-0-9.]+[,;]? ?(?:and )?$", before):
        return False
    behind = P.search(after)
    above = re.search(r"[pP] ?[=<>≤≥] ?[0-9.]+ ?[,;:]? ?\(?$", before)
    return bool(above) or (behind is not None and not _BETWEEN.search(after, 0, behind.start()))


def kind_of(symbol: str) -> str:
    """t, F, r, z, χ², H, Q, q or ρ; the symbol itself where it is none of these."""
    if symbol in ("z", "Z"):
        return "z"
    if symbol in ("ρ", "rho", "rs"):
        return "ρ"
    if re.fullmatch(r"(?:χ|X|[Cc]hi-?)(?:²|\^?2)|Q[A-Za-z]+|LRT?|G²?|Wald", symbol):
        return "χ²"
    return symbol[0] if re.fullmatch("[tF][12]", symbol) else symbol


_P_NEXT = r"[,;]? ?\(?[pP](?:[- ]?value)? ?[=<>≤≥]"
_ONE_DF = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+(?:\.[0-9]+)?)"
_DF_BEHIND = [
    re.compile(
        rf"(?<![\w/.-]){kind}(?:[- ](?:value|stat(?:istic)?))? ?(?P<value>[=<>] ?{NUMBER})"
        rf"(?P<p>[,;]? ?\(?[pP](?:-value)? ?[=<>≤] ?{NUMBER})?"
        rf"(?:[,;]? ?[(\[]?(?:df|d\.f\.) ?[=:]? ?[(]?(?P<df>{df})"
        rf"|(?:,| with| on)? ?[(]?(?P<of>{df}) (?:df|d\.f\.|degrees of freedom))(?![\w%])[)\]]?"
    )
    for kind, df in (
        (r"(?P<kind>t|r|χ²|[HQ]|LRT?|Wald|G²?)", _ONE_DF),
        ("(?P<kind>F)", f"{_ONE_DF}(?:, ?| and |; ?){_ONE_DF}"),
    )
]
_OF_R = re.compile(
    r"(?P<above>two variances[^\n]*\n(?:[^\n]*\n){0,4}?\W*)?"
    rf"\bF = (?P<f>{NUMBER}), num df = (?P<a>[0-9.]+), denom df = (?P<b>[0-9.]+), p-value"
    r"(?P<p>[^\n]*)"
    r"(?P<below>\n\W*alternative hypothesis: true ratio of variances is (?P<side>\w+))?"
)
"""How R prints a test in one line: `t = 2.2, df = 28, p-value = 0.036`."""
_R_WITH_N = re.compile(
    rf"(?m)(?P<before>(?:^|[.;] )[^\n=<>;]{{0,80}}?)(?<![\w/.-])r ?= ?(?P<r>{NUMBER})"
    rf"(?P<p>,? ?\(?p ?[=<>≤] ?{NUMBER})?,? ?\(?[nN] ?= ?"
    r"(?P<n>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)\)?(?!\w|\.[0-9]| per)"
)
_NO_PEARSON = re.compile(r"(?i)spearman|kendall|rank|rho|partial|effect")
_BROKEN = re.compile(
    rf"(?<![\w/.-])(?:(?:{NAMES})[ \n]?\([^()\n]{{0,20}}\n?[^()\n]{{0,20}}\)|[zZ])"
    rf"\s{{0,3}}[=<>]\s{{0,3}}{NUMBER}"
    rf"(?:[,;]?\s{{0,3}}\(?[pP](?:[- ]?value)?\s{{0,3}}[=<>≤≥]\s{{0,3}}{NUMBER})?\)?"
)
"""A statistic that may go on in the next line, with its p if that is next to it."""
_DF_NEXT = re.compile(
    r"(?<![\w/.-])(t(?=[3-9]|[0-9]{2})|r(?=[0-9]{2}))([0-9]{1,4})"
    rf"(?= ?[=<>] ?{NUMBER}{_P_NEXT})"
)
"""`t28 = 2.2`, but no t1, which is the first of several, nor r2."""
_INLINE = re.compile(
    r"</?[A-Za-z][\w:-]*(?:\s+[\w:-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>]+))*\s*/?>"
)


_DASH = r"[-‐‑‒–]"
_APART = re.compile(
    rf"(?<![\w.)%\]])(?<![0-9.)%\]] ){_DASH}[\N{{THIN SPACE}}\N{{HAIR SPACE}}\N{{NO-BREAK SPACE}}"
    rf"\N{{NARROW NO-BREAK SPACE}}](?=\.?[0-9])|(?<=[=<>(\[,;|&$\t]){_DASH} (?=\.?[0-9])"
    rf"|(?<=[=<>(\[,;|&] ){_DASH} (?=\.?[0-9])"
)
_SIGN = re.compile(
    rf"(?<![\w.)%\]])(?<![0-9.)%\]] ){_DASH}(?=\.?[0-9])|(?<=[0-9][eE]){_DASH}(?=[0-9])"
)


def with_minus(text: str) -> str:
    """The text, as long, with a hyphen right before a number for what is printed as a minus there.

    A dash behind a number stays, for it may be that of a range.
    """
    text = re.sub("[\N{MINUS SIGN}\N{SMALL HYPHEN-MINUS}\N{FULLWIDTH HYPHEN-MINUS}]", "-", text)
    return _SIGN.sub("-", _APART.sub(" -", text))


_LEGEND = re.compile(
    r"(?<![\w).%*])\*{1,4}(?: (?=\*?p\*? ?[<≤])|(?=p ?[<≤] ?0?\.[0-9]+(?![0-9*])))"
)
"""Stars whose level follows, and not the marks of italics or bold."""


def plain(text: str) -> str:
    """The text without the marks of LaTeX, Markdown and HTML, of the same lines."""
    text = _LEGEND.sub("† ", _without_tags(text))
    text = re.sub(r"= (?=[<>] ?0?\.[0-9])", "", text)
    text = re.sub(r"(?:>=|=>)(?= ?[0-9.])", "≥", re.sub(r"(?:<=|=<)(?= ?[0-9.])", "≤", text))
    text = _without_marks(text)
    text = _with_parentheses(text)
    text = re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|[*$\\{}]", "", text)
    text = re.sub(r"(?<=[0-9])[†‡§]+(?!\w)", "", text)
    text = re.sub(r"[ \t\N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}]+", " ", text)
    text = _BROKEN.sub(_in_one_line, text)
    text = _DF_NEXT.sub(r"\1(\2)", text)
    text = _R_WITH_N.sub(_with_pairs, _OF_R.sub(_of_r, text))
    for behind in _DF_BEHIND:
        text = behind.sub(_with_df, text)
    return _IN_TURN.sub(_each_with_its_p, _LISTED.sub(_each_of_the_list, text))


_ONE = rf"(?<![\w/.-])(?:{NAMES}) ?\([^()\n]{{1,40}}\) ?[=<>] ?{NUMBER}"
_SIZE = rf"(?:, ?(?:[dgf]|[ηω]p?²?|MSE) ?= ?{NUMBER})?"
_PS = (
    rf"(?<!\w)(?P<all>both |all |each )?[pP](?P<s>['’]?s)? ?(?P<p>[=<>≤≥] ?{NUMBER}"
    rf"(?:(?:,? and|,) (?:[pP] ?)?[=<>≤≥]? ?{NUMBER})*)(?P<of> (?:for|in) (?:both|all|each))?"
)
_IN_TURN = re.compile(
    rf"{_ONE}{_SIZE}(?:(?:,? and|,) [^.;=<>\n]{{0,30}}?{_ONE}{_SIZE})+[^.;=<>\n]{{0,40}}?{_PS}"
)
_LISTED = re.compile(
    rf"(?<![\w/.-])(?P<of_one>(?:rs(?= ?\()|{NAMES})) ?s? ?(?P<df>\([^()\n]{{1,40}}\)) ?= ?"
    rf"(?P<values>{NUMBER}(?:(?:,? and|,) {NUMBER})+)[,;]? ?\(?{_PS}"
)


def _each_with_its_p(found: re.Match[str]) -> str:
    """`t(28) = 2.20, p = .036 and t(28) = 3.00, p = .006` where both p stand at the end."""
    ends = [each.end() for each in re.finditer(_ONE, found[0])]
    ps = _ps_of(found, len(ends))
    said, at = "" if ps else found[0], 0
    for end, p in zip(ends, ps, strict=bool(ps)):
        said += f"{found[0][at:end]}, p {p}"
        at = end
    return said


def _ps_of(found: re.Match[str], count: int) -> list[str]:
    """So many p as there are statistics before them, each with its relation; else none."""
    ps = re.findall(rf"([=<>≤≥]?) ?({NUMBER})", found["p"])
    if len(ps) == 1 and (found["s"] or found["all"] or found["of"]):
        ps *= count
    return [f"{sign or ps[0][0]} {p}" for sign, p in ps] if len(ps) == count else []


def _each_of_the_list(found: re.Match[str]) -> str:
    """`t(28) = 2.2, p = .036; t(28) = 3, p = .006` for `t(28) = 2.2 and 3, p = .036 and .006`.

    No statistic where nothing says which p is of which.
    """
    values = re.findall(NUMBER, found["values"])
    ps = _ps_of(found, len(values))
    name = f"{found['of_one']}{found['df']}"
    each = [f"{name} = {value}, p {p}" for value, p in zip(values, ps, strict=bool(ps))]
    return "; ".join(each) or found[0].replace("=", ":", 1)


_OF_TREND = re.compile(
    r"(?m)(?:^|[\s,;({^$|>])(?P<mark>\+|\\cdot|[.·⋅~#°])(?P<rest>\}?\$?(?:</sup>)?\)?[ :=]*\$?[ ]?"
    r"(?:(?:is|marks|denotes|indicates) )?\$?p ?[<≤] ?\$?0?\.10?(?![0-9]))"
)


def with_daggers(text: str) -> str:
    """The text with † for another mark that its legend gives p < .1, as + and the dot of R."""
    found = _OF_TREND.search(text)
    if found is None or "†" in text or "dagger" in text:
        return text
    text = f"{text[: found.start('mark')]}†{text[found.end('mark') :]}"
    mark = rf"(?:<sup>|\$?\^?\{{?){re.escape(found['mark'])}(?:</sup>|\}}?\$?)"
    blank = " " if found["mark"] == "." else " ?"
    end = r"(?=\s*(?:[|&,;\t\n<)]|\\\\|$))"
    behind = rf"(?<=[0-9*)]){blank}{mark}{end}"
    return re.sub(rf"(?m){behind}|(?<=[|&,;\t>]){mark}{end}|(?<=[|&,;] ){mark}{end}", "†", text)


def _without_tags(text: str) -> str:
    """Tags and entities of HTML; cells end in |, and raised or lowered text is marked as such."""
    text = re.sub(r"<(su[bp])>([^<>\n]*)</\1>", lambda t: f"{'_^'[t[1] == 'sup']}{{{t[2]}}}", text)
    text = _INLINE.sub(lambda tag: " | " if re.match("</t[dh]", tag[0].lower()) else "", text)
    text = text.replace("&amp;", "and")
    return re.sub(r"&#?\w{2,8};", lambda each: html.unescape(each[0]).replace("\n", " "), text)


_A_FLOAT = rf"(?:np\.float64\()?({NUMBER})\)?"
_OF_SCIPY = re.compile(
    rf"\b[A-Za-z_]{{1,40}}Result\(statistic={_A_FLOAT}, pvalue={_A_FLOAT}, (df|dof)={_A_FLOAT}"
)


def _of_scipy(found: re.Match[str]) -> str:
    df = re.sub(r"\.0+$", "", found[4])
    return f"{'t' if found[3] == 'df' else 'χ²'}({df}) = {found[1]}, p = {found[2]} ("


_RELATIONS = (("lt", "<"), ("gt", ">"), ("l", "≤"), ("g", "≥"), ("", "≈"))


def _relation(found: re.Match[str]) -> str:
    """The sign of LaTeX's command."""
    return next(sign for name, sign in _RELATIONS if found[1].startswith(name))


def _without_marks(text: str) -> str:
    text = re.sub(r"\\([lg]t|[lg]eq?(?:slant)?|approx|sim(?:eq)?)(?![A-Za-z])", _relation, text)
    text = re.sub(r"(?<!\w)([*_]{1,2})([tFrzZHQχpPρ]s?)\1(?![A-Za-z])", r"\2", text)
    text = re.sub(r"(?<=[^\W\d_])~([0-9][0-9., ]*)~", r"_{\1}", text).replace("χ^2^", "χ²")
    text = re.sub(r"~|\\[,;:! ]", " ", text)
    text = re.sub(r"(?<=[=<>]) ?\+(?=[0-9.])", " ", text)
    text = re.sub(r"(?<![\w/.-])F ?\(([0-9]+) ?/ ?([0-9]+)\)", r"F(\1, \2)", text)
    text = re.sub(r"\|([trz])(\([0-9., ]+\))?\|(?= ?[(=<>])", r"\1\2", text)
    called = "[- ](?:values?|tests?|stat(?:istic)?|ratio|score)"
    text = re.sub(rf"(?<![\w/.-])([tFr]){called}(?= ?\([0-9])|([zZ]){called}(?= ?=)", r"\1\2", text)
    text = _OF_SCIPY.sub(_of_scipy, text)
    text = re.sub(r"(?<=[=<>(])( ?)[–—‐‑](?=[0-9.])", r"\1-", text)
    text = _without_powers(
        re.sub(r"\\chi", "χ", re.sub(r"\\rho", "ρ", text)).replace("\N{MINUS SIGN}", "-")
    )
    text = re.sub(r"\\(?:textit|emph|mathit|mathrm|text)\{(\w+)\}", r"\1", text)
    text = re.sub(r"(?i)\bchi[- ]?squared?(?= ?[(=])|\bX-squared(?= =)", "χ²", text)
    text = re.sub(r"χ_(\{[^{}\n]*\}|\w)\^(?:\{2\}|2|²)", r"χ²_\1", text)
    text = re.sub(r"χ(?:\^?\{2\}|\^?2|²)", "χ²", text)
    text = re.sub(
        r"(?<!\w)[x\N{GREEK CAPITAL LETTER CHI}](?:²|\^?2)(?= ?\([^()\n]*\) ?[=<>])", "χ²", text
    )
    text = re.sub(r"(?<!\w)(?:Δ ?|\\?Delta ?)(?=(?:F|χ²) ?[_(])", "", text)
    text = re.sub(r"(?<!\w)F[ _-]?\{?(?:change|inc)\}?(?= ?\()", "F", text)
    text = re.sub(r"(?<!\w)(?:[A-Z]-?)?[A-Z](?=χ² ?\()", "", text)
    text = re.sub(r"(?<!\w)(?i:min) ?F['′’]?(?= ?\()", "F", text)
    text = re.sub(r"(?<!\w)rpb(?= ?\()", "r", text)
    return re.sub(r"(?<!\w)(?:r_\{?[sS]\}?|ρ_\{?[sS]\}?|rS)(?= ?[_(=<>])", "rs", text)


_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def _without_powers(text: str) -> str:
    """`p < 1e-5` for `p < 10⁻⁵`, and for a power that has lost its place above the line."""
    text = re.sub(r"(?<=10)[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda power: f"^{power[0].translate(_RAISED)}", text)
    power = r"10\$?\^ ?\{?-([0-9]{1,3})\}?"
    text = re.sub(rf"(?<=[0-9]) ?(?:×|\\times|x|·|\\cdot|\*) ?{power}", r"e-\1", text)
    text = re.sub(r"(?<=[0-9]) ?[×x] ?10 ?-([0-9]{1,3})(?![0-9])", r"e-\1", text)
    text = re.sub(rf"([=<>≤≥≈] ?\$?){power}", r"\g<1>1e-\2", text)
    return re.sub(r"(\b[pP] ?[=<≤] ?)10-([0-9]{1,2})(?![0-9])", r"\g<1>1e-\2", text)


_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


def _with_parentheses(text: str) -> str:
    """Lowered degrees of freedom, and those in brackets, in parentheses."""
    df = r"[0-9][0-9., ]*"
    symbol = r"(?<![\w/.-])([tFrzHQ]|χ²|rs|ρ)"
    text = re.sub(rf"{symbol}_(?:\{{ ?\(?({df})\)? ?\}}|\(({df})\)|({df}))", _lowered, text)
    text = re.sub(r"(?<![\w/.-])Q_\{?([A-Za-z]{1,8})\}?(?= ?\()", r"Q\1", text)
    text = re.sub(rf"{symbol}_\{{?(?:[A-Z][A-Za-z-]*|pb|partial)\}}?(?= ?[(=])", r"\1", text)
    text = re.sub(r"(?<!\w)(H|χ²)[A-Z](?= ?[(=])", r"\1", text)
    text = re.sub(rf"{symbol}\[({df})\](?= ?[=<>])", r"\1(\2)", text)
    text = re.sub(
        rf"{symbol}([₀-₉]+(?:[.,] ?[₀-₉]+)*)", lambda t: f"{t[1]}({t[2].translate(_LOWERED)})", text
    )
    two = rf"([0-9]{{1,3}}), ?({_ONE_DF})"
    text = re.sub(rf"(?<![\w/.-])F ?{two}(?= ?[=<>] ?{NUMBER})", r"F(\1, \2)", text)
    return re.sub(rf"(?<!\w)χ² ?([0-9]{{1,3}})(?= ?[=<>] ?{NUMBER})", r"χ²(\1)", text)


def _lowered(found: re.Match[str]) -> str:
    return f"{found[1]}({(found[2] or found[3] or found[4]).strip()})"


def _in_one_line(found: re.Match[str]) -> str:
    """What goes on in the next lines, and the ends of these lines behind it."""
    if "\n\n" in found[0]:
        return found[0]
    in_one = re.sub(r"\s*\n\s*", " ", found[0]).replace(" (", "(", 1)
    return in_one + "\n" * found[0].count("\n")


def _of_r(found: re.Match[str]) -> str:
    """`F(2, 57) = 4.1, p = 0.022`, with the sides of a test of two variances."""
    said = found.groupdict("")
    sides = {"": "", "not": "two-sided "}.get(said["side"], "one-sided ")
    of = f" {sides}ratio of variances" if said["above"] or said["below"] else ""
    return (
        f"{said['above']}F({said['a']}, {said['b']}) = {said['f']}, p{said['p']}{of}{said['below']}"
    )


def _with_pairs(found: re.Match[str]) -> str:
    """`r(48) = .31, p = .028` for `r = .31, n = 50, p = .028` of Pearson."""
    said = found.groupdict("")
    n = int(said["n"].replace(",", ""))
    p_next = said["p"] or re.match(r"\)?[,;]? ?\(?p ?[=<>≤]", found.string[found.end() :])
    if n < 3 or not p_next or _NO_PEARSON.search(said["before"]):
        return found[0]
    return f"{said['before']}r({n - 2}) = {said['r']}{said['p'].replace('(', '')}"


def _with_df(found: re.Match[str]) -> str:
    """`t(28) = 2.20, p = .036` for `t = 2.20, p = .036 (df = 28)`."""
    said = found.groupdict("")
    df = (said["df"] or said["of"]).replace(" and ", ", ")
    return f"{said['kind']}({df}) {said['value']}{said['p'].replace('(', '')}"
