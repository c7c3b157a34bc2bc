"""What short texts state, so that two that cannot both be true are found by rule. English and Chinese; pure.

Words that carry no meaning here are dropped, others get one form in both languages (`statements.toml`); what remains of
a sentence, in whatever order, is its frame. Two statements of one frame contradict each other where a figure, a word of
a closed list, a value such as a home, or a denial differs. A word that no list knows stays in the frame and keeps texts
apart: precision comes first, and what is not read is left alone.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import inf, isclose
from typing import NamedTuple

from minara_site.kernel.core.assets import classify, narrowed
from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.core.porter import stem
from minara_site.kernel.core.tickers import EntityKind, any_of, chinese, find_mentions

MAX_CHARS, MAX_STATEMENTS, MAX_FIGURES, MAX_FRAME, MAX_OBJECTS, MAX_BESIDE = 1_000, 12, 3, 24, 4, 4
NOON, COLON = 12, ":"
DAYS_APART = 45  # of one thing; dates farther apart are of two
_TABLES = load_toml(__package__, "statements.toml")
_SCALES, _UNITS, _MONTHS, _NUMERALS = (_TABLES[name] for name in ("scales", "units", "months", "numerals"))
_SPECIAL = "".join(_TABLES["special"])
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,9})?"
_LATIN, _MONTH = r"[a-z\u00c0-\u024f][a-z\u00c0-\u024f&]*", any_of(_MONTHS)
_SCALE, _UNIT = (
    rf"(?:(?:{any_of(filter(str.isascii, names))})(?![a-z])|{chinese(names)})" for names in (_SCALES, _UNITS)
)
_TOKEN = re.compile(
    rf"""[^\S\n]+
    |(?P<plain>{_LATIN}(?![a-z\u00c0-\u024f&\d])(?!\.?\ \d)(?!\ of\ 20)|(?![{_SPECIAL}])[\u3400-\u9fff])[^\S\n]*
    |(?P<date>(?:20\d\d[-/.](?P<m0>\d\d?)[-/.](?P<d0>\d\d?)(?!\d)|(?P<m1>\d\d?)月(?P<d1>\d\d?)[日号]?)
        |(?P<d2>\d\d?)(?:st|nd|rd|th)?(?:\ of)?\ (?P<m2>{_MONTH})\b
        |(?P<m3>{_MONTH})\b\.?\ (?P<d3>\d\d?)(?:st|nd|rd|th)?(?![\d,.%:]*\d|[a-z])
        |the\ (?P<d4>\d\d?)(?:st|nd|rd|th)\b|(?P<d5>\d\d?)[号日](?!线|均))
    |(?P<clock>(?P<h1>\d\d?):(?P<min>[0-5]\d)(?!\d)(?:\s?(?P<p1>[ap])m\b)?
        |(?P<h2>\d\d?)\s?(?P<p2>[ap])m\b|(?P<h3>\d\d?)点(?P<half>半)?)
    |(?P<ratio>(?P<one>\d+(?:\.\d+)?)[:比](?P<two>\d+))
    |(?P<until>(?:until|till|through|到|至)\s?20\d\d年?)
    |(?P<year>(?:fy\s?)?20[0-4]\d(?:\s?财?年|(?![\d.,]*\d|\s?{_SCALE}|\s?{_UNIT})))
    |(?P<period>[qh][1-4]\b|第?[一二三四1-4]季度?|[上下]半年|\d\d?月份?)
    |(?P<named>[\#№]\s?\d+|\d+(?:\.\d+)?-[a-z]+|\d+[日周]?均线|\d+年期|\d+(?:st|nd|rd|th)\b
        |第[一二三四五六七八九十\d]+|[a-z]+\d\w*)
    |(?P<figure>(?:(?P<sign>[$€£¥])\s?)?(?P<low>{_NUMBER})(?:\s?(?P<scale>{_SCALE}))?(?:[ -]?(?P<unit>{_UNIT}))?
        (?:\s?(?:-|\u2013|~|to|and|至|到)\s?[$€£¥]?
        (?P<high>{_NUMBER})(?:\s?(?P<scale2>{_SCALE}))?(?:[ -]?(?P<unit2>{_UNIT}))?)?)
    |(?P<word>{_LATIN}|[\u3400-\u9fff])
    |(?P<end>[.!](?=\s|$)|[\n\u3002])|(?P<comma>[,;])|(?P<colon>[:=])""",
    re.VERBOSE | re.IGNORECASE,
)
_PHRASES = re.compile(r",\s+")
_WORD = re.compile(r"[a-z\u00c0-\u024f&]+|[\u3400-\u9fff]")
_SHORT_YEAR = re.compile(r"(?<=[qh]\d)\s?'(\d\d)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[.,;!\n\u3002](?:\s|$)|[,\u3002]")
_ASIDE = re.compile(rf"\b(?:{'|'.join(_TABLES['asides'])})|{'|'.join(_TABLES['asides_anywhere'])}", re.IGNORECASE)
_NUMERAL = re.compile(
    rf"(?<![第几{''.join(_NUMERALS)}])(?:{any_of(_NUMERALS)})(?={'|'.join(_TABLES['counted'])})", re.IGNORECASE
)


class Figure(NamedTuple):
    """A number with its kind of unit, from `low` to `high`; a `bound` is the most or the least that may be.

    `step` is what its last digit counts.
    """

    kind: str
    low: float
    high: float
    step: float = 0
    bound: str = ""

    def excludes(self, other: "Figure") -> bool:
        """Say whether only one of two can be true of one thing; of kinds that cannot be compared both can."""
        if not self.is_comparable(other):
            return False
        if self.bound and self.bound == other.bound:
            return not (is_same(self.low, other.low) and is_same(self.high, other.high))
        low, high = max(self.low, other.low), min(self.high, other.high)
        return low > high and not is_same(low, high) and not (self.kind == "date" and low - high > DAYS_APART)

    def is_comparable(self, other: "Figure") -> bool:
        """Say whether both count the same; a plain number may be money of any currency, a bare one a count too."""
        kinds = {self.kind, other.kind}
        return (
            len(kinds) == 1 or ("" in kinds and kinds <= _PLAIN) or ("#" in kinds and kinds <= _PLAIN | {"#", "count"})
        )


class Sentence(NamedTuple):
    """What a sentence, or a clause of it, says: words, members of closed lists, figures, and what marks it."""

    words: frozenset[str]
    listed: frozenset[tuple[str, str]]
    figures: tuple[Figure, ...]
    marks: tuple[str, ...]

    @property
    def terms(self) -> frozenset[str]:
        """Its words with the members of lists."""
        return self.words | {member for _name, member in self.listed}

    @property
    def is_denied(self) -> bool:
        """Whether it denies what it speaks of; who sold all of something does not hold it."""
        if "gone" in self.marks or "exit" in self.marks:
            return "gone" in self.marks or "all" in self.marks or "account" in self.words
        return self.marks.count("neg") % 2 == 1

    @property
    def is_present(self) -> bool:
        """Whether it says how things are now, and of the user: no wish, no past, nobody else."""
        return {"want", "past", "unsure"}.isdisjoint(self.marks)

    @property
    def verbs(self) -> frozenset[str]:
        """What is held, traded or used, as far as it says."""
        has_left = {"hold", "use"} if {"gone", "exit"} & set(self.marks) else _NONE
        return _VERBS.intersection(self.marks) | has_left


@dataclass(frozen=True, slots=True)
class Statement:
    """What a text states under a `key`, which holds all that must be equal for two to contradict each other."""

    key: str
    figures: tuple[Figure, ...] = ()
    values: frozenset[str] = frozenset()
    said: Sentence | None = None
    is_only: bool = False

    def excludes(self, other: "Statement") -> bool:
        """Say whether only one of two statements of one key can be true."""
        if self.figures:
            return len(self.figures) == len(other.figures) and any(map(Figure.excludes, self.figures, other.figures))
        if self.said and other.said and self.values:
            return is_beside(self, other) or is_beside(other, self)
        if self.said and other.said:
            return is_denial_of(self.said, other.said) or is_denial_of(other.said, self.said)
        are_one_script = all(map(str.isascii, self.values)) == all(map(str.isascii, other.values))
        return are_one_script and not (self.values & _wider(other.values) or _wider(self.values) & other.values)


def _wider(values: frozenset[str]) -> frozenset[str]:
    """Return values with the countries of cities, and markets with those that they are part of."""
    return values | {_PARENTS[value] for value in values if value in _PARENTS}


def is_same(one: float, other: float) -> bool:
    """Say whether two numbers differ by no more than rounding."""
    return isclose(one, other, rel_tol=1e-9)


def is_beside(only: Statement, other: Statement) -> bool:
    """Say whether one allows some members of a list alone, for what the other uses another."""
    if not (only.is_only and only.said and other.said and only.said.words <= other.said.words):
        return False
    does = bool(other.said.verbs or "event" in other.said.marks)
    return does and any(not only.values & _wider(frozenset({value})) for value in other.values)


def is_denial_of(denial: Sentence, said: Sentence) -> bool:
    """Say whether one denies what the other says: of all that it names, by the same verb."""
    others = {word for word in denial.words ^ said.words if word[0] == "%"}
    if others or not denial.is_denied or said.is_denied or not denial.terms <= said.terms:
        return False
    if denial.verbs and said.verbs:
        return bool(denial.verbs & said.verbs)
    return bool(denial.terms & _ACTS) or denial[:3] == said[:3]


def _pieces(phrase: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(phrase.lower()))


def _load_forms() -> dict[tuple[str, ...], str]:
    """Return by phrase what it stands for: nothing, a `!mark`, a member of a list (`list=member`), or a word."""
    forms: dict[tuple[str, ...], str] = {}
    for name, phrases in _TABLES["words"].items():
        forms |= {_pieces(phrase): name for phrase in _PHRASES.split(phrases)} | {_pieces(name): name}
    for name, members in _TABLES["lists"].items():
        for member, phrases in members.items():
            forms |= {_pieces(phrase): f"{name}={member}" for phrase in (member, *_PHRASES.split(phrases))}
    for mark, phrases in _TABLES["marks"].items():
        forms |= {_pieces(phrase): "" if mark == "soft" else f"!{mark}" for phrase in _PHRASES.split(phrases)}
    return forms


_FORMS = {pieces: form for pieces, form in _load_forms().items() if pieces}
_STEMS = {stem(pieces[0]): form for pieces, form in _FORMS.items() if len(pieces) == 1 and form and form[0] != "!"}
_LONGEST: dict[str, int] = {}
for _form in _FORMS:
    _LONGEST[_form[0]] = max(_LONGEST.get(_form[0], 0), len(_form))
_NONE: frozenset[str] = frozenset()
_PLAIN = frozenset({"", "#", "usd", "eur", "gbp", "jpy", "cny", "hkd", "chf"})
_MOMENTS = frozenset({"date", "day", "clock", "year"})
_VERBS = frozenset({"hold", "trade", "use"})
_BOUNDS = frozenset({"most", "least", "over", "under"})
_DENIED_BOUNDS = {"over": "most", "under": "least", "most": "most", "least": "least"}
_MEASURES, _DATED, _ACTS, _GENERAL = (
    frozenset(_TABLES[name].split()) for name in ("measures", "dated", "acts", "general")
)
_EXCLUSIVE = frozenset(_TABLES["exclusive"].split())
_PARENTS = {place: whole for whole, parts in _TABLES["parents"].items() for place in parts.split()}
_PURPOSED = frozenset({"main", "main_of", "currency"})
_HINTS = re.compile(_TABLES["hints"], re.IGNORECASE)
_CLASSES = {name: frozenset(words.split()) for name, words in _TABLES["classes"].items()}
_VALUE, _VALUE_END = r"(?P<v>[^.,;:!?\u3002\n]{2,50}?)", rf"(?=$|\s(?:{_TABLES['value_ends']})\b)"
_VALUES = [
    (name, re.compile(pattern.replace("{v}", _VALUE + (_VALUE_END if pattern.endswith("{v}") else "")), re.IGNORECASE))
    for name, patterns in _TABLES["values"].items()
    for pattern in patterns
]


@lru_cache(maxsize=8_192)
def read_statements(text: str) -> tuple[Statement, ...]:
    """Return what a text states, at most MAX_STATEMENTS; nothing of a long text, a question or a dated event."""
    found = [each for parts in _read(text) for each in _state(*parts)] + _read_values(text)
    return tuple({each.key: each for each in found}.values())[:MAX_STATEMENTS]


def contradict(one: str, other: str) -> bool:
    """Say whether two texts cannot both be true."""
    stated = {each.key: each for each in read_statements(one)}
    return any(each.key in stated and each.excludes(stated[each.key]) for each in read_statements(other))


def forbids(limit: str, text: str) -> bool:
    """Say whether a text wants or does what a limit forbids; what is denied, past or somebody else's does neither."""
    bounds = [part for parts in _read(limit) for part in parts]
    return any(_is_against(bound, act) for parts in _read(text) for act in parts for bound in bounds)


def _parts(clauses: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Return a sentence as a whole, and its clauses."""
    whole = Sentence(
        frozenset().union(*(each.words for each in clauses)),
        frozenset().union(*(each.listed for each in clauses)),
        tuple(figure for each in clauses for figure in each.figures),
        tuple(mark for each in clauses for mark in each.marks),
    )
    return tuple(dict.fromkeys((whole, *clauses)))


def _state(whole: Sentence, *parts: Sentence) -> Iterator[Statement]:
    """Yield what a sentence states: figures as a whole, members of lists and denials also clause by clause."""
    if _can_count(whole):
        frame = " ".join(sorted(whole.terms))
        wish = "wanted " if "want" in whole.marks else ""
        yield Statement(f"figure {wish}{frame}", tuple(sorted(whole.figures)))
    for part in (whole, *parts):
        if {"past", "unsure"} & set(part.marks) or len(part.terms) > MAX_FRAME:
            continue
        for name in sorted({name for name, _member in part.listed}):
            values = frozenset(member for other, member in part.listed if other == name)
            others = part._replace(listed=frozenset(pair for pair in part.listed if pair[0] != name))
            is_only = "only" in part.marks
            if not part.is_denied and (is_only or name not in _EXCLUSIVE):
                yield Statement(f"only {name}", values=values, said=others, is_only=is_only)
            if not part.is_denied and name in _EXCLUSIVE:
                around = [*sorted(others.terms), *(f"{figure.low:g}" for figure in part.figures)]
                yield Statement(" ".join([name, *around]), values=values)
        if part.is_present and part in (parts or (whole,)):
            is_named = part.verbs or part.terms & _ACTS or part.is_denied
            for word in sorted(part.terms)[:MAX_OBJECTS] if is_named else ():
                yield Statement(f"denied {word}", said=part)
            if len(part.words) > 1 and not part.figures:
                yield Statement(f"denied all {' '.join(sorted(part.terms))}", said=part)


def _can_count(sentence: Sentence) -> bool:
    """Say whether the figures of a sentence are lasting ones of one thing."""
    marks, words, figures = set(sentence.marks), sentence.terms, sentence.figures
    kinds = {figure.kind for figure in figures}
    is_timed = not kinds.isdisjoint(_MOMENTS) or any(word[0] == "~" for word in words)
    is_otherwise = marks & {"event", "exit", "past", "unsure"} or ("want" in marks and "count" in kinds)
    if is_otherwise or ("was" in marks and not is_timed):
        return False
    if not (0 < len(figures) <= MAX_FIGURES and 0 < len(words) <= MAX_FRAME):
        return False
    if kinds <= _MOMENTS - {"year"}:
        return bool(words & _DATED)
    return kinds == {"count"} or any(word[0] not in "@~" for word in words)


def _is_against(limit: Sentence, act: Sentence) -> bool:
    """Say whether an act is one that a limit forbids."""
    if act.is_denied or not {"past", "unsure"}.isdisjoint(act.marks) or any(word[0] == "%" for word in act.words):
        return False
    assets = {word for word in act.words if word[0] == "@"}
    wanted = {word for word in limit.words if word[0] == "@"}
    have = act.terms.union(*(_CLASSES.get(classify(asset[1:]) or "", _NONE) for asset in assets))
    have |= {"leverage"} if any(figure.kind == "x" for figure in act.figures) else _NONE
    needs = limit.terms - _GENERAL - wanted
    needs |= {"leverage"} if any(figure.kind == "x" for figure in limit.figures) else _NONE
    others = act.words - limit.words - needs
    if (wanted and not wanted & assets and (assets or others)) or any(word[0] == "~" for word in others):
        return False
    if limit.figures:
        is_general = limit.verbs & act.verbs and limit.terms <= act.terms and not assets
        beyond = [one for one in limit.figures for two in act.figures if _is_beyond(one, two, limit)]
        return bool(beyond and (needs or wanted & assets or is_general)) and needs <= have
    if len(others) > MAX_BESIDE:
        return False
    for name in {name for name, _member in limit.listed if "only" in limit.marks}:
        allowed, used = ({member for other, member in each.listed if other == name} for each in (limit, act))
        if used - allowed and needs - allowed <= have:
            return True
    is_doing = act.verbs or act.terms & _ACTS or {"want", "event"} & set(act.marks)
    is_leaving = "exit" in act.marks and not needs & _ACTS
    return limit.is_denied and bool(needs or wanted) and needs <= have and bool(is_doing) and not is_leaving


def _is_beyond(bound: Figure, figure: Figure, limit: Sentence) -> bool:
    """Say whether a figure is more than the most, or less than the least, that a limit allows."""
    if not bound.is_comparable(figure) or figure.bound:
        return False
    above, below = (figure.low > bound.high, figure.high < bound.low)
    if bound.bound:
        return (above and not is_same(figure.low, bound.high)) or (below and not is_same(figure.high, bound.low))
    return limit.is_denied and (above or is_same(figure.low, bound.high))


def _plain(text: str) -> str:
    """Return a text in one spelling, without asides."""
    plain = narrowed(text).replace("\u2019", "'").replace("n't", " not").replace("'s ", " ")
    plain = _NUMERAL.sub(lambda match: _NUMERALS[match.group().lower()], plain)
    return _ASIDE.sub(r"\1 ", _SHORT_YEAR.sub(r" 20\1", plain))


@lru_cache(maxsize=8_192)
def _read(text: str) -> tuple[tuple[Sentence, ...], ...]:
    """Return the sentences of a text, each as a whole and its clauses; none of one that is left alone."""
    if len(text) > MAX_CHARS or "?" in narrowed(text):
        return ()
    items = list(_fold(list(_tokens(_plain(text)))))
    begins = next((item for item in items if not str(item).startswith("~")), "")
    if isinstance(begins, Figure) and begins.kind in {"date", "day"}:
        return ()
    sentences: list[list[list[str | Figure]]] = [[[]]]
    for item in items:
        if item == ".":
            sentences.append([[]])
        elif item == ",":
            sentences[-1].append([])
        else:
            sentences[-1][-1].append(item)
    return tuple(_parts([_sentence(clause) for clause in clauses if clause]) for clauses in sentences if any(clauses))


def _tokens(plain: str) -> Iterator[str | Figure]:
    """Yield words, Chinese characters, assets as `@BTC`, times as `~q3`, figures, and the ends of clauses."""
    mentions = {each.start: each for each in find_mentions(plain) if each.entity.kind is EntityKind.TICKER}
    behind = 0
    for match in _TOKEN.finditer(plain):
        kind = match.lastgroup
        if kind is None or match.start() < behind:
            continue
        said = match[kind].lower()
        if mention := mentions.get(match.start()):
            behind = mention.end
            yield f"@{mention.entity.key}"
        elif kind in {"figure", "date", "clock", "ratio", "until"}:
            yield _figure(kind, match)
        elif kind in {"year", "period"}:
            yield "~" + _TABLES["periods"].get(said, re.sub(r"[fy\s财年份]", "", said))
        elif kind == "named":
            yield said.replace(" ", "")
        else:
            yield {"end": ".", "comma": ",", "colon": COLON}.get(kind, said)


def _figure(kind: str, match: re.Match[str]) -> Figure:
    """Return a figure: dates count days of a year of 31-day months, clocks minutes."""
    found = {name: value.lower() for name, value in match.groupdict().items() if value}
    if kind == "until":
        year = float(re.sub(r"\D", "", match.group()))
        return Figure("year", year, year)
    if kind == "ratio":
        share = float(found["one"]) / max(float(found["two"]), 1)
        return Figure("ratio", share, share)
    if kind == "date":
        day = next(float(found[name]) for name in ("d0", "d1", "d2", "d3", "d4", "d5") if name in found)
        named = _MONTHS.get(found.get("m2") or found.get("m3") or "", found.get("m0") or found.get("m1"))
        return Figure("date", 31 * float(named) + day, 31 * float(named) + day) if named else Figure("day", day, day)
    if kind == "clock":
        hour = float(found.get("h1") or found.get("h2") or found["h3"])
        late = NOON if "p" in (found.get("p1"), found.get("p2")) and hour < NOON else 0
        at = 60 * (hour + late) + float(found.get("min", 30 if "half" in found else 0))
        return Figure("clock", at, at)
    unit, size = _UNITS.get(found.get("unit2") or found.get("unit") or "", ("#", 1.0))
    scale = _SCALES.get(found.get("scale2") or found.get("scale") or "", 1.0)
    if unit == "#" and ("sign" in found or scale != 1):
        unit = _TABLES["signs"].get(found.get("sign", ""), "")
    low, high = (float(found.get(name, found["low"]).replace(",", "")) for name in ("low", "high"))
    step = 10.0 ** -len(found["low"].partition(".")[2])
    own = _SCALES.get(found.get("scale", ""), scale) * _UNITS.get(found.get("unit", ""), (unit, size))[1]
    return Figure(unit, low * own, max(high * scale * size, low * own), step * own)


def _fold(tokens: Sequence[str | Figure]) -> Iterator[str | Figure]:
    """Yield what phrases stand for; a bare number behind a name, as in `note 3`, is part of it."""
    at, before = 0, ""
    while at < len(tokens):
        token, length = tokens[at], 1
        if isinstance(token, Figure):
            following = tokens[at + 1] if at + 1 < len(tokens) else ""
            if token.kind == "#" and str(following).startswith("@"):
                token = token._replace(kind="count")
            is_plural = isinstance(following, str) and (following.endswith("s") or following in _TABLES["plurals"])
            is_counted = is_plural and _FORMS.get((str(following),), following) != ""
            is_named = bool(before) and before not in _MEASURES and before[0] not in "!.," and not is_counted
            is_name = token.kind == "#" and is_named and (before.isascii() or token.step == 1)
            yield f"{before}{token.low:g}" if is_name else token
            before, at = "", at + 1
            continue
        form = "" if token == COLON else None
        for length in range(min(_LONGEST.get(token, 0), len(tokens) - at), 0, -1):
            form = _FORMS.get(tuple(map(str, tokens[at : at + length])))
            if form is not None:
                break
        if form is None:
            form, length = _STEMS.get(stem(token), stem(token)) if token.isascii() else token, 1
        if form:
            yield form
        before, at = form, at + length


def _sentence(items: Sequence[str | Figure]) -> Sentence:
    """Return what a clause says. A bound is that of the next figure, or of the one before it."""
    words, listed, marks, figures = set[str](), set[tuple[str, str]](), list[str](), list[Figure]()
    bound, is_about, is_former = "", False, False
    for item in items:
        if isinstance(item, Figure):
            if not is_former:
                figures.append(_bounded(item, bound, is_about=is_about))
            bound, is_about, is_former = "", False, False
        elif item[0] != "!":
            name, is_listed, member = item.partition("=")
            (listed.add((name, member)) if is_listed else words.add(item))
        elif item[1:] in _BOUNDS:
            bound = item[1:]
            if "neg" in marks:
                bound = _DENIED_BOUNDS[bound]
                marks.remove("neg")
        elif item == "!about":
            is_about = True
        elif item == "!from":
            is_former = any(isinstance(each, Figure) for each in items[items.index(item) :][2:])
        else:
            marks.append(item[1:])
    if bound and figures and not figures[-1].bound:
        figures[-1] = _bounded(figures[-1], bound, is_about=False)
    return Sentence(frozenset(words), frozenset(listed), tuple(figures), tuple(marks))


def _bounded(figure: Figure, bound: str, *, is_about: bool) -> Figure:
    """Return a figure as the most or the least that may be, or as about what it says."""
    if bound in {"most", "under"}:
        return figure._replace(low=-inf, bound="most")
    if bound in {"least", "over"}:
        return figure._replace(high=inf, bound="least")
    wide = figure.step / 2 if is_about else 0
    return figure._replace(low=figure.low - wide, high=figure.high + wide)


def _read_values(text: str) -> list[Statement]:
    """Return the values that a text gives to attributes of which each has one: a home, a job, a main exchange."""
    found: list[Statement] = []
    plain = _plain(text)
    clauses = _CLAUSE_END.split(plain) if _HINTS.search(plain) and _read(text) else ()
    for clause, (name, pattern) in product(clauses, _VALUES):
        if match := pattern.search(clause):
            whole, rest = (_sentence(_items(part)) for part in (clause, clause[: match.start()]))
            said = [item for item in _items(match["v"]) if isinstance(item, str) and item[0] not in "!~"]
            values = frozenset(filter(str.isascii, said)) or frozenset({match["v"].strip()[:2]} if said else ())
            about = [str(item) for group in ("n", "p") for item in _items(match.groupdict().get(group) or "")]
            others = rest.terms if name in _PURPOSED else {word for word in whole.words if word[0] == "%"}
            if values and not whole.is_denied and (whole.is_present or name == "currency"):
                found.append(Statement(" ".join([name.partition("_")[0], *about, *sorted(others)]), values=values))
    return found


def _items(plain: str) -> list[str | Figure]:
    """Return what a clause is made of."""
    return [item for item in _fold(list(_tokens(plain))) if item not in {",", "."}]
