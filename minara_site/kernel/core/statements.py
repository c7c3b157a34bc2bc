"""What a short memory says of attributes: texts that cannot both be true, and texts against a limit, without a model.

A statement is a frame with something taken out: a figure ("revenue guidance # for Q3"), a word of a closed list
("prefers # charts"), an open value ("main exchange is #") or a denial ("trades options", "never trades options").
Two texts of one frame and different fillings contradict each other. English and Simplified Chinese; the words are in
`statements.toml`. Precision comes first: what is not read for certain is left alone, and no text is changed. Pure.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, zip_longest
from math import inf, isclose
from typing import NamedTuple

from minara_site.kernel.core.assets import CLASSES, FIAT, TICKER_OF, TICKERS, AssetClass, narrowed
from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.core.porter import stem
from minara_site.kernel.core.tickers import any_of, ticker_symbol

MAX_CHARS = 2_000
MAX_STATEMENTS = 8
MAX_FIGURES = 3
"""Figures of one frame; with more of them a text is a table or a story."""
MAX_VALUE_WORDS = 5


class Figure(NamedTuple):
    """A number, an amount or a date: its unit, from `low` to `high`. A `bound` is the most or the least that may be."""

    kind: str
    low: float
    high: float
    bound: str = ""
    date: tuple[int, ...] = ()

    def excludes(self, other: "Figure") -> bool:
        """Say whether only one can be true of one thing; units that cannot be compared exclude nothing."""
        if self.date or other.date:
            return any(a and b and a != b for a, b in zip(self.date, other.date, strict=False))
        if not is_same_unit(self.kind, other.kind):
            return False
        is_changed = bool(self.bound) and self.bound == other.bound and self[1:3] != other[1:3]
        return is_changed or is_below(self.high, other.low) or is_below(other.high, self.low)


class Word(NamedTuple):
    """A word as frames compare it, what it is or does, and the figure that it stands for."""

    form: str
    tags: frozenset[str] = frozenset()
    figure: Figure | None = None


class Act(NamedTuple):
    """What a clause wants, does, forbids or bounds: kinds of acts, all its words, and those that make out a limit."""

    groups: frozenset[str]
    words: frozenset[str]
    needs: frozenset[str]
    assets: frozenset[str]
    figures: tuple[Figure, ...]
    tags: frozenset[str]
    is_own: bool
    does: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """What a text says of one attribute.

    `topic` is the attribute alone: any limit and any text that it forbids share one. `key` is the frame, equal for two
    statements that contradict each other. Either is "" where a statement serves the other only.
    """

    topic: str
    key: str
    figures: tuple[Figure, ...] = ()
    values: frozenset[str] = frozenset()
    is_negative: bool = False
    is_only: bool = False
    act: Act | None = None

    def excludes(self, other: "Statement") -> bool:
        """Say whether only one of two statements of one key can be true."""
        if self.act and other.act:
            return is_against(self.act, other.act) or is_against(other.act, self.act)
        if self.figures:
            return len(self.figures) == len(other.figures) and any(map(Figure.excludes, self.figures, other.figures))
        if not self.values:
            return self.is_negative != other.is_negative
        if self.key.startswith("only "):
            is_beside = not other.values <= self.values, not self.values <= other.values
            return (self.is_only and is_beside[0]) or (other.is_only and is_beside[1])
        return are_apart(self.values, other.values)


def _is_latin(name: str) -> bool:
    return name.isascii() and name[0].isalpha()


_TABLE = load_toml(__package__, "statements.toml")
_SCALES: dict[str, float] = _TABLE["scales"]
_UNITS: dict[str, tuple[str, float]] = {name: (kind, size) for name, (kind, size) in _TABLE["units"].items()}
_NUMBERS: dict[str, str] = _TABLE["numbers"]
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905
_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
_YEAR = r"(?:19[5-9]|20[0-4])\d"
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,15}(?:\.\d{1,15})?|\.\d{1,15}"
_SCALE = rf"\s?(?:{any_of(_SCALES)})(?![a-z])"
_UNIT = rf"[ -]?(?:(?:{any_of(filter(_is_latin, _UNITS))})(?![a-z])|{any_of(each for each in _UNITS if not _is_latin(each))})"
_SIGN = r"(?:us|hk)?[$€£¥]\s?"
_TOKEN = re.compile(
    rf"""
    (?P<date>
        (?P<y1>{_YEAR})[-/.](?P<m1>\d\d?)[-/.](?P<d1>\d\d?)(?!\d)
        |(?:(?P<y2>{_YEAR})年)?(?P<m2>\d\d?)月(?!线)(?:(?P<d2>\d\d?)[日号])?
        |(?P<d3>\d\d?)(?:st|nd|rd|th)?(?:\ of)?\ (?P<m3>{_MONTH})\b(?:,?\ (?P<y3>{_YEAR}))?
        |\b(?P<m4>{_MONTH})\.?\ (?P<d4>\d\d?)(?:st|nd|rd|th)?(?![\d%:]|\s?[.,]\d|[a-z])(?:,?\ (?P<y4>{_YEAR}))?
        |\b(?P<m5>{_MONTH})\ (?P<y5>{_YEAR})
        |\bthe\ (?P<d6>\d\d?)(?:st|nd|rd|th)\b
        |(?P<d7>\d\d?)[号日](?![线均])
    )
    |(?P<clock>(?P<h1>\d\d?):(?P<n1>\d\d)(?::\d\d)?\s?(?P<p1>[ap]m)?|(?P<h2>\d\d?)\s?(?P<p2>[ap]m)\b
        |(?P<p3>早上|上午|凌晨|中午|下午|晚上)?(?P<h3>\d\d?)点(?P<n3>半)?)
    |(?:fy\s?)?(?P<year>{_YEAR})(?:财年|年)?(?!\d|[.,]\d|[a-z-]|\s?[个股枚]|{_SCALE}|{_UNIT})
    |(?P<quarter>q[1-4]\b|[1-4]q\b|第?[一二三四1-4]季度?|h[12]\b|上半年|下半年)
    |(?P<chart>\d{{1,3}}[ -]?(?:m|h|d|w|小时|分钟)[a-z]{{0,6}}(?=[ -]?(?:chart|candle|time ?frame|bar|线|级别|图|k线)))
    |(?P<named>(?:\#|no\.\ ?)\d+|401k|\d+(?:\.\d+)?-[a-z]+(?:-[a-z]+)?|\d+/\d+|\d+(?:st|nd|rd|th)\b
        |\d+[日周]?(?:年期|均线|天期)|\d+\.\d+\.\d[\d.]*)
    |(?P<figure>(?P<between>between\s)?(?P<sign>{_SIGN})?(?P<low>{_NUMBER})(?P<lows>{_SCALE})?(?P<lowu>{_UNIT})?
        (?:\s?(?(between)and|(?:-|\u2013|\u2014|~|to|至|到))\s?(?:{_SIGN})?
        (?P<high>{_NUMBER})(?P<highs>{_SCALE})?(?P<highu>{_UNIT})?)?(?P<count>\s?[个股枚张只支笔次])?)
    |(?P<word>[a-z\u00c0-\u024f][a-z0-9\u00c0-\u024f]*)
    |(?P<han>[\u4e00-\u9fff])
    |(?P<mark>[,;:.!?\u3001\u3002=\n]|->|\u2192)
    """,
    re.VERBOSE,
)
_FIAT = any_of(FIAT)
_DIGITS = "一二两三四五六七八九十"
_REWRITE = re.compile(
    rf"(?P<no>n['\u2019]t\b)|(?P<usa>\bUS\b)|(?P<pair>\b(?:{_FIAT})/(?:{_FIAT})\b)|\b(?P<en>(?i:{any_of(filter(str.isascii, _NUMBERS))}))(?=[ -][a-z])"
    rf"|百分之(?P<percent>[\d.]+|[{_DIGITS}]{{1,3}})"
    rf"|(?<![第每几{_DIGITS}])(?P<zh>[{_DIGITS}]{{1,3}})(?=[个只支笔次倍成家股张枚周岁点天条]|小时|分钟|年(?!期)|月)"
)
_PIECE = re.compile(r"[a-z0-9\u00c0-\u024f]+|[\u4e00-\u9fff]")


def _pieces(phrase: str) -> str:
    """Return a phrase as tokens are compared: Latin words by their stems, Chinese by characters."""
    return " ".join(stem(piece) if piece.isascii() else piece for piece in _PIECE.findall(phrase.lower()))


def _read_tags() -> dict[str, frozenset[str]]:
    tags: dict[str, set[str]] = {symbol: {"asset"} for symbol in TICKERS}
    for tag, words in _TABLE["tags"].items():
        for word in words.split(","):
            tags.setdefault(_pieces(word), set()).update({tag, tag.partition(":")[0]})
    return {form: frozenset(names) for form, names in tags.items()}


def _read_forms() -> dict[str, tuple[str, ...]]:
    forms = {_pieces(name): (symbol,) for name, symbol in TICKER_OF.items() if not _PIECE.fullmatch(name)}
    for form, names in _TABLE["same"].items():
        forms |= {_pieces(name): tuple(_pieces(form).split()) for name in names.split(",")}
    return {form: (form,) for form in _TAGS} | forms


_TAGS = _read_tags()
_FORMS = _read_forms()
_LENGTHS: dict[str, int] = {}
for _form in _FORMS:
    _LENGTHS[_form.split()[0]] = max(_LENGTHS.get(_form.split()[0], 0), len(_form.split()))
_SLOTS = {
    f"slot:{name}": tuple(frozenset(map(stem, words.split())) for words in (needed, noun))
    for name, (needed, noun) in _TABLE["slots"].items()
}
_COUNTRY = {_pieces(city): _pieces(country) for country, cities in _TABLE["places"].items() for city in cities.split()}
_CLASS_WORDS = {AssetClass(name): frozenset(map(stem, words.split())) for name, words in _TABLE["classes"].items()}
_COVERS = {name: frozenset(groups.split()) for name, groups in _TABLE["covers"].items()}
_VALUE = r"(?P<v>[^,;:.!?\u3002\n]{1,40})"
_OPEN = [
    (name, re.compile(pattern.replace("{v}", _VALUE)))
    for name, patterns in _TABLE["open"].items()
    for pattern in patterns
]
_NONE: frozenset[str] = frozenset()
_ASSET, _BARE, _MARK, _TIME = (frozenset({tag}) for tag in ("asset", "bare", "mark", "time"))
_CHART = frozenset({"slot", "slot:chart"})
_WISH, _OFTEN = frozenset({"want"}), frozenset({"often"})
_PLURAL = re.compile(r"^[a-z]{2,}[^s\Wiu]s$")
_VALUED = frozenset(
    {"drop", "mark", "lasting", "measure", "concept", "about", "over", "under", "most", "least", "from", "prep"}
)
_NAMING = frozenset({"name", "asset"})
_BOUNDS = frozenset({"most", "least", "over", "under", "about", "from"})
_SILENT = frozenset({"drop", "own", "neg", "only", "mark", *_BOUNDS})
_HOLLOW_VALUE = frozenset({"drop", "own", "mark"})
_HOLLOW = _SILENT | {"asset", "time"}
_VERBAL = frozenset({"do", "want", "weak", "neg", "most", "least", "main", "only"})
_COMPLETE = _VERBAL | {"slot"}
_INHERITED = frozenset({"person", "time", "asset"})
_STOPS = frozenset({"prep", "split", "cut", "person"})
_DOUBTFUL = frozenset({"neg", "unsure", "want", "from", "ended"})
_LEADING = frozenset({"do", "want", "weak", "neg", "concept", "asset", "market", *_BOUNDS, "only", "main"})
_IDLE = frozenset({"neg", "unsure", "ended"})
_FILLING = frozenset({"do", "weak", "want", "filler", "often", "prefer"})
_ESSENTIAL = frozenset({"concept", "measure"})
_ACTING = frozenset({"concept", "venue", "market"})
_BROAD = frozenset({"trade", "hold", "use", "want"})
_MEASURES = frozenset(form for form, tags in _TAGS.items() if "measure" in tags)
_NAMED = frozenset(form for form, tags in _TAGS.items() if tags & _ACTING)
_TOPICS = {"percent": "share", "times": "leverage", "time": "duration", "clock": "hour"}
_ASSETS = frozenset(TICKERS)
_KINDS = {
    kind: frozenset(form for form, tags in _TAGS.items() if kind in tags)
    for kind in ("venue", "session", "side", "instrument", "market")
}
_ENDS = frozenset(",;.!\n\u3002")
_QUARTERS = (
    {f"{number}{ending}": f"q{digit}" for digit, number in enumerate("一二三四", 1) for ending in ("季", "季度")}
    | {"上半年": "h1", "下半年": "h2"}
    | {f"{digit}q": f"q{digit}" for digit in "1234"}
)


def read_statements(text: str) -> tuple[Statement, ...]:
    """Return what a text says of attributes, a few statements; nothing of a text that is long or cannot be read."""
    return _read(text[: MAX_CHARS + 1])[0]


def contradict(one: str, other: str) -> bool:
    """Say whether only one of two texts can hold."""
    known = {statement.key: statement for statement in read_statements(one) if statement.key}
    return one != other and any(
        known[statement.key].excludes(statement) for statement in read_statements(other) if statement.key in known
    )


def forbids(limit: str, text: str) -> bool:
    """Say whether a text wants or does what a limit forbids; `limit` is known to be one."""
    bounds, acts = (_read(each[: MAX_CHARS + 1])[1] for each in (limit, text))
    return any(is_against(bound, act) for bound in bounds for act in acts)


def is_same_unit(one: str, other: str) -> bool:
    """Say whether two units can be compared: a bare number may be a count or an amount of money."""
    return one == other or ("" in {one, other} and not {one, other} & {"percent", "times", "time", "clock"})


def is_below(one: float, other: float) -> bool:
    """Say whether a number is below another by more than rounding of floats."""
    return one < other and not isclose(one, other, rel_tol=1e-9)


def are_apart(values: frozenset[str], others: frozenset[str]) -> bool:
    """Say whether values have nothing in common; a city lies in its country."""
    wider, wider_others = (each | {_COUNTRY.get(value, value) for value in each} for each in (values, others))
    return not (values & wider_others or wider & others)


def is_against(limit: Act, act: Act) -> bool:
    """Say whether an act is one that a limit forbids."""
    others = limit.needs - limit.assets
    if "each" in limit.tags and not act.assets:
        others -= _KINDS["market"]
    is_elsewhere = limit.assets and act.assets and not limit.assets & act.assets
    if not act.does or (is_elsewhere and "only" not in limit.tags):
        return False
    if limit.figures:
        return others <= act.words and _is_out_of_bound(limit, act)
    if "only" in limit.tags:
        return _is_beside(limit, act)
    is_whole = others <= act.words and limit.assets <= act.assets
    is_specific = bool(others or limit.assets or limit.groups - _BROAD)
    return "neg" in limit.tags and is_whole and is_specific and bool(covered(limit) & act.groups)


def covered(limit: Act) -> frozenset[str]:
    """Return the kinds of acts that a limit is about: all that its verbs include."""
    return frozenset(chain.from_iterable(_COVERS[group] for group in limit.groups or ("any",)))


def _is_out_of_bound(limit: Act, act: Act) -> bool:
    """Say whether a figure of an act is beyond that of a limit, and of the same: risk is not size."""
    if limit.words & _MEASURES != act.words & _MEASURES:
        return False
    is_general = "each" in limit.tags or not limit.needs
    if is_general and not act.assets and ("market" in act.tags or not act.tags & {"whole", "do:hold"}):
        return False
    return any(
        is_same_unit(bound.kind, figure.kind)
        and (
            is_below(bound.high, figure.low) or is_below(figure.high, bound.low)
            if bound.bound
            else "neg" in limit.tags and not is_below(figure.low, bound.low)
        )
        for bound in limit.figures
        for figure in act.figures
    )


def _is_beside(limit: Act, act: Act) -> bool:
    """Say whether an act is about others of a kind than those that a limit allows alone."""
    for kind, members in _KINDS.items():
        allowed = limit.words & members
        if allowed and limit.needs - limit.assets - members <= act.words:
            return bool(act.words & members) and not act.words & allowed and bool(covered(limit) & act.groups)
    asset_words = (act.words & _ASSETS) - limit.assets
    return bool(limit.assets and asset_words and limit.needs <= limit.assets and covered(limit) & act.groups)


@lru_cache(maxsize=4_096)
def _read(text: str) -> tuple[tuple[Statement, ...], tuple[Act, ...]]:
    """Return the statements of a text, and its acts."""
    plain = _REWRITE.sub(_rewrite, narrowed(text))
    if len(text) > MAX_CHARS or "?" in plain:
        return (), ()
    words = _find_words(plain)
    clauses = _clauses(words)
    acts = tuple(map(_act, clauses))
    keyed: list[Statement] = []
    if not _is_event(words):
        for clause, act in zip(clauses, acts, strict=True):
            keyed += _keyed(clause, act)
        keyed += _open_values(plain.lower())
    topics = dict.fromkeys(topic for act in acts for topic in _topics(act))
    once = {statement.key: statement for statement in keyed}
    room = MAX_STATEMENTS - min(len(topics), MAX_STATEMENTS // 2)
    return (*list(once.values())[:room], *(Statement(topic, "") for topic in topics))[:MAX_STATEMENTS], acts


def _rewrite(match: re.Match[str]) -> str:
    """Return digits for a number in words, and plain spellings."""
    kind, found = match.lastgroup, match.group()
    if kind == "no":
        return " not"
    if kind == "usa":
        return "USA"
    if kind == "pair":
        return found.replace("/", "")
    if kind == "en":
        return _NUMBERS[found.lower()]
    digits = match[kind or "zh"]
    if digits[0] in _DIGITS:
        tens, ten, ones = digits.rpartition("十")
        digits = str(10 * int(_NUMBERS.get(tens, "1")) + int(_NUMBERS.get(ones, "0"))) if ten else _NUMBERS[ones[0]]
    return f"{digits}%" if kind == "percent" else digits


def _find_words(plain: str) -> list[Word]:
    """Return the words of a text: forms for phrases of the table, symbols for assets, figures."""
    lower = plain.lower()
    cased = plain if len(lower) == len(plain) else lower
    tokens = [_token(match, cased) for match in _TOKEN.finditer(lower)]
    pieces = [token if isinstance(token, str) else "" for token, _raw in tokens]
    words: list[Word] = []
    at = 0
    while at < len(tokens):
        token, raw = tokens[at]
        length = 1
        if isinstance(token, Word):
            is_count = any(_PLURAL.search(raw) for _token, raw in tokens[at + 1 : at + 3])
            _add_figure(words, token, is_count=is_count)
        elif raw.isupper() and raw in TICKERS:
            _add_asset(words, raw)
        else:
            for length in range(min(_LENGTHS.get(token, 1), len(tokens) - at), 0, -1):
                key = " ".join(pieces[at : at + length])
                if key in _FORMS:
                    said = _TAGS.get(key, _NONE)
                    words += [Word(form, said | _TAGS.get(form, _NONE)) for form in _FORMS[key]]
                    break
            else:
                symbol = ticker_symbol(raw, is_tagged=False) if raw.isascii() else None
                if symbol:
                    _add_asset(words, symbol)
                else:
                    words.append(Word(token))
        at += length
    return words


def _token(match: re.Match[str], cased: str) -> tuple[str | Word, str]:
    kind = match.lastgroup or ""
    raw = cased[match.start() : match.end()]
    return (stem(match.group()) if kind in {"word", "han"} else _MAKERS[kind](match)), raw


def _add_asset(words: list[Word], symbol: str) -> None:
    if words and words[-1].figure and not words[-1].figure.kind:
        words[-1] = words[-1]._replace(figure=words[-1].figure._replace(kind="count"))
    words.append(Word(symbol, _ASSET))


def _add_figure(words: list[Word], word: Word, *, is_count: bool) -> None:
    """Add a figure, or join a bare number to the name that it belongs to, as in `note 3`."""
    last = words[-1] if words else Word("", _MARK)
    is_name = last.tags & _NAMING or (last.form[:1].isascii() and not last.tags & _VALUED)
    if "bare" in word.tags and is_name and (not is_count or not last.tags & _VERBAL):
        words[-1] = Word(last.form + word.form)
    else:
        words.append(word)


def _parts(match: re.Match[str]) -> dict[str, str]:
    """Return the groups with numbered names, as in `y1` and `y2`, by their letter."""
    return {name[0]: value for name, value in match.groupdict().items() if value and name[1:].isdigit()}


def _make_date(match: re.Match[str]) -> Word:
    parts = _parts(match)
    month = parts.get("m", "0")
    number = int(month) if month.isdigit() else 1 + _MONTHS.index(month[:3])
    date = (int(parts.get("y", 0)), number, int(parts.get("d", 0)))
    form = "-".join(map(str, date))
    return Word(form, _TIME, Figure("date", 0, 0, "", date) if date[2] else None)


def _make_clock(match: re.Match[str]) -> Word:
    parts = _parts(match)
    minutes = 60 * int(parts["h"]) + {"半": 30}.get(parts.get("n", "0"), 0)
    minutes += int(parts["n"]) if parts.get("n", "半") != "半" else 0
    if parts.get("p") in {"pm", "下午", "晚上"} and minutes < 12 * 60:
        minutes += 12 * 60
    return Word(match.group(), _NONE, Figure("clock", minutes, minutes))


def _make_figure(match: re.Match[str]) -> Word:
    unit = (match["highu"] or match["lowu"] or match["sign"] or "").strip()
    kind, size = _UNITS.get(unit[-1:] if match["sign"] == unit else unit, ("", 1.0))
    if match["count"] and not kind:
        kind = "count"
    high = _amount(match["high"] or match["low"], match["highs"] or match["lows"]) * size
    low = _amount(match["low"], match["lows"] or match["highs"]) * size
    is_bare = match.group().isdigit()
    return Word(match.group().strip(), _BARE if is_bare else _NONE, Figure(kind, min(low, high), high))


def _amount(number: str, scale: str | None) -> float:
    return float(number.replace(",", "")) * _SCALES[scale.strip()] if scale else float(number.replace(",", ""))


_MAKERS: dict[str, Callable[[re.Match[str]], Word]] = {
    "date": _make_date,
    "clock": _make_clock,
    "figure": _make_figure,
    "year": lambda match: Word(match["year"], _TIME),
    "quarter": lambda match: Word(_QUARTERS.get(match.group().strip("第"), match.group()), _TIME),
    "chart": lambda match: Word(match.group().replace(" ", "").replace("-", ""), _CHART),
    "named": lambda match: Word(match.group()),
    "mark": lambda match: Word(match.group(), _MARK),
}


def _clauses(words: list[Word]) -> list[list[Word]]:
    """Return a text in clauses; what has no verb, or begins with a preposition, belongs to its neighbour."""
    parts: list[list[Word]] = [[]]
    for word, following in zip_longest(words, words[1:], fillvalue=Word("")):
        if word.form in _ENDS or "split" in word.tags or (word.form == "and" and following.tags & _VERBAL):
            parts.append([])
        else:
            parts[-1].append(word)
    clauses: list[list[Word]] = []
    for part in filter(None, parts):
        is_fragment = "prep" in part[0].tags or not any(word.tags & _VERBAL for word in part)
        if clauses and (is_fragment or not any(word.tags & _COMPLETE or word.figure for word in clauses[-1])):
            clauses[-1] += part
        else:
            clauses.append(part)
    return [_bind(clause + _context(clauses[0], clause)) for clause in clauses]


def _context(first: list[Word], clause: list[Word]) -> list[Word]:
    """Return the persons, times and assets that a clause takes over from the first of its text."""
    if clause is first or any("own" in word.tags for word in clause):
        return []
    own = frozenset(chain.from_iterable(word.tags for word in clause))
    return [word for word in first if not word.figure and word.tags & _INHERITED - own]


def _bind(clause: list[Word]) -> list[Word]:
    """Return a clause with every figure bounded by the words beside it, without what was true before."""
    pending: set[str] = set()
    bound: list[Word] = []
    last = None
    for word in clause:
        if word.figure is None:
            pending -= {"from"} if "to" in word.tags else _NONE
            pending |= word.tags & _BOUNDS
            if word.form in {"->", "→"} and last is not None:
                bound[last] = Word("")
            bound.append(word)
            continue
        negated = [at for at, each in enumerate(bound) if "neg" in each.tags]
        if negated and pending & {"over", "under"}:
            del bound[negated[0]]
            pending = {"most" if "over" in pending else "least"}
        if negated and negated[-1] == len(bound) - 1 and not pending:
            bound.pop()
            pending = {"from"}
        if "from" in pending and is_below(word.figure.low, word.figure.high):
            word = word._replace(figure=word.figure._replace(low=word.figure.high))
        elif "from" in pending:
            pending.clear()
            continue
        last = len(bound)
        bound.append(_bounded(word, pending))
        pending.clear()
    if last is not None and pending - {"from"} and not bound[last].figure.bound:
        bound[last] = _bounded(bound[last], pending)
    return [word for word in bound if word.form]


def _bounded(word: Word, tags: set[str]) -> Word:
    """Return a figure as the words beside it bound or soften it."""
    figure = word.figure
    if figure is None or figure.date or not tags:
        return word
    if tags & {"most", "under"}:
        figure = figure._replace(low=-inf, bound="most" if "most" in tags else "under")
    elif tags & {"least", "over"}:
        figure = figure._replace(high=inf, bound="least" if "least" in tags else "over")
    elif "about" in tags:
        half = _rounding(figure)
        figure = figure._replace(low=figure.low - half, high=figure.high + half)
    return word._replace(figure=figure)


def _rounding(figure: Figure) -> float:
    """Return half of the last digit that is not zero: 72 000 is from 71 500 to 72 500."""
    if figure.kind == "time":
        return figure.high / 8
    whole, _dot, decimals = f"{figure.high:.10g}".partition(".")
    return 0.5 * 10 ** (-len(decimals) if decimals else len(whole) - len(whole.rstrip("0")))


def _is_event(words: list[Word]) -> bool:
    """Say whether a text begins with a date, or says that something has just happened."""
    first = next((word for word in words if not word.tags & _SILENT), Word(""))
    return bool(first.figure and first.figure.date) or any("moment" in word.tags for word in words)


def _frame(words: Iterable[Word], *, without: frozenset[str] = _NONE) -> str:
    """Return what is left of a clause: its words that carry meaning, in no order."""
    content = {word.form: word for word in words if not word.tags & (_SILENT | without) and not word.figure}
    strong = [form for form, word in content.items() if "weak" not in word.tags]
    return " ".join(sorted(strong or content))


def _keyed(clause: list[Word], act: Act) -> Iterator[Statement]:
    """Yield what a clause says that another text may contradict."""
    if "unsure" in act.tags:
        return
    figures = [word for word in clause if word.figure]
    if figures:
        yield from _figure_statement(clause, figures, act.tags)
    if not any(word.figure.kind != "count" for word in figures if word.figure):
        yield from _slot_statements(clause, act)
        yield from _denial(clause, act)
    if act.is_own and not act.tags & {"want", "ended"} and ("event" not in act.tags or "often" in act.tags):
        named = [word.form for word in clause if word.tags & _ACTING]
        yield from (Statement("", f"act {form}", act=act) for form in named[:2])


def _figure_statement(clause: list[Word], figures: list[Word], tags: frozenset[str]) -> Iterator[Statement]:
    amounts = [word for word in figures if word.figure and not word.figure.date]
    others = [word._replace(figure=None) if word.figure and word.figure.date and amounts else word for word in clause]
    values = tuple(word.figure for word in amounts or figures if word.figure)
    is_moment = all(value.kind in {"date", "clock"} for value in values)
    is_event = "event" in tags and "lasting" not in tags
    if is_event or len(values) > MAX_FIGURES or (is_moment and "dated" not in tags):
        return
    if len(values) > 1 and tags & {"do:trade", "do:sell"}:
        return
    frame = _frame(others, without=_WISH if is_moment else _NONE)
    if any(not word.tags & _HOLLOW for word in others if not word.figure):
        yield Statement("", f"figure {'not ' * ('neg' in tags)}{frame}", figures=values)


def _slot_statements(clause: list[Word], act: Act) -> Iterator[Statement]:
    """Yield a word of a closed list: of which one holds, or that "only" makes so."""
    cut = next((at for at, word in enumerate(clause) if "cut" in word.tags), len(clause))
    part = clause[:cut]
    forms = {word.form for word in part} | act.tags
    slots = {tag for word in part for tag in word.tags if tag.startswith("slot:")}
    for slot in slots:
        needed, noun = _SLOTS[slot]
        if len(slots) == 1 and (not needed or needed & forms) and noun <= forms and "neg" not in act.tags:
            values = frozenset(word.form for word in part if slot in word.tags)
            frame = _frame(part, without=frozenset({slot, "want", "prefer", "often", "main"}))
            yield Statement("", f"{slot} {frame}", values=values, is_only="only" in act.tags)
    kind = next((kind for kind in ("session", "market", "venue", "asset") if kind in act.tags), "")
    if kind and act.groups and act.is_own and not act.tags & {"neg", "event", "want"}:
        values = frozenset(word.form for word in part if kind in word.tags)
        frame = _frame(
            part, without=frozenset({kind, "asset", "often", "prep"} | ({"market"} if kind == "session" else set()))
        )
        yield Statement("", f"only {kind} {frame}", values=values, is_only="only" in act.tags)


def _denial(clause: list[Word], act: Act) -> Iterator[Statement]:
    """Yield what a clause says or denies as a whole."""
    frame = _frame(clause, without=_OFTEN)
    is_said = act.tags & {"do", "weak", "neg"} and not act.tags & {"event", "only"}
    if is_said and frame and sum("neg" in word.tags for word in clause) < 2:
        yield Statement("", f"whether {frame}", is_negative="neg" in act.tags)


def _open_values(lower: str) -> Iterator[Statement]:
    """Yield the values of attributes of which one holds."""
    for name, pattern in _OPEN:
        match = pattern.search(lower)
        if not match:
            continue
        subject = _find_words(lower[max(0, match.start() - 60) : match.start()])
        rest = match.groupdict()
        words = _find_words(rest["v"])
        size = next((at for at, word in enumerate(words) if at and word.tags & _STOPS), len(words))
        values = frozenset(word.form for word in words[:size] if not word.tags & _HOLLOW_VALUE)
        attribute = _frame([*subject, *_find_words(f"{rest.get('k') or ''} {rest.get('p') or ''}")])
        tags = frozenset(chain.from_iterable(word.tags for word in subject))
        if (
            not tags & _DOUBTFUL
            and 0 < len(values) <= MAX_VALUE_WORDS
            and not any(word.figure for word in words[:size])
        ):
            yield Statement("", f"{name} {attribute}", values=values)


def _act(clause: list[Word]) -> Act:
    """Return what a clause wants, does, forbids or bounds."""
    tags = frozenset(chain.from_iterable(word.tags for word in clause))
    content = [word for word in clause if not word.tags & _SILENT and not word.figure]
    figures = tuple(word.figure for word in clause if word.figure and not word.figure.date)
    assets = frozenset(word.form for word in content if "asset" in word.tags)
    classes = chain.from_iterable(_CLASS_WORDS.get(CLASSES[asset], _NONE) for asset in assets if asset in CLASSES)
    is_count = any(figure.kind in {"", "count"} for figure in figures)
    leverage = {"leverag"} if any(figure.kind == "times" for figure in figures) else _NONE
    first = next((word for word in clause if not word.tags & {"drop", "often"}), Word(""))
    is_own = "person" not in tags and ("own" in tags or bool(first.figure or first.tags & _LEADING))
    is_past = "time" in tags and "want" not in tags
    is_doing = bool(figures or tags & {"do", "want", "weak"}) and not (tags & _IDLE or is_past)
    is_bounded = any(figure.bound in {"most", "least"} for figure in figures)
    groups = {tag[3:] for tag in tags if tag.startswith("do:")} | ({"want"} & tags)
    return Act(
        groups=frozenset(groups),
        words=frozenset({word.form for word in content}.union(classes, leverage)),
        needs=frozenset(
            {
                word.form
                for word in content
                if not word.tags & _FILLING or word.tags & _ESSENTIAL or (is_count and "thing" in word.tags)
            }
            | leverage
        ),
        assets=assets,
        figures=figures,
        tags=tags,
        is_own=is_own,
        does=is_own and is_doing and not is_bounded,
    )


def _topics(act: Act) -> Iterator[str]:
    """Yield what a clause is about, as a limit and what it forbids share it."""
    if act.figures:
        yield from dict.fromkeys(_TOPICS.get(figure.kind, "amount") for figure in act.figures)
    named = [f"act {name}" for name in sorted(act.words & _NAMED)][: MAX_STATEMENTS // 2 - 1]
    if act.does:
        yield from ("act", *named)
    elif "person" not in act.tags and act.tags & {"neg", "only"}:
        yield from named[:1] if act.needs & _NAMED and "only" not in act.tags else ["act"]
