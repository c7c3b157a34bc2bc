"""Which verb is said of which entity: English and Chinese words, no model. Source: S1 (typed memory edges). Pure.

A verb takes the entities that follow it in its clause, else those before it ("BTC stopped out"). A list shares its
verb ("bought BTC, ETH and SOL"), and an exit that names nothing is of what was just said ("long BTC from 60k, closed at
64k"). What is negated or only wished ("never long DOGE", "不要买 BTC") says nothing.
Only an asset or an address is held, exited or traded; a chain can be watched.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import pairwise

from minara_site.kernel.core.tickers import EntityKind, Mention

HOLDS, EXITED, TRADED, WATCHED = "holds", "exited", "traded", "watched"
NEGATION_CHARS = 32  # how far before its verb a negation stands
GLUE_CHARS = 24  # the longest that may stand between two members of a list

_OBJECT = r"(?: (?:my|the|a|an|our|his|her|all|half|most|out|of|entire|both|this|that|remaining|rest)){0,4}"
_POSITION = r"(?: (?:longs?|shorts?|positions?|trades?))?"
_NO_TERM = r"(?![- ]?(?:term|run|time|lived|ago|as|before|after|enough|squeeze|interest|list|side|signal)\b)"

FORWARD = {
    EXITED: r"(?:sell|sells|selling|exits?|exiting|clos(?:e|es|ing|ed)|dump(?:ed)?|unloaded|trimmed|got out of)"
    rf"(?! ?(?:off|signals?|walls?|side|pressure|orders?|above|below|near)\b){_OBJECT}{_POSITION}",
    HOLDS: r"(?:holds?|held|buy|buys|buying|owns?|owned|add|adds|added|adding|accumulates?|stack(?:ed|ing)?|entered|"
    r"entering|loaded up on|scaled into|aped into|dca(?:'?d|ing)?|opened|longing|staked?|staking)"
    r"(?! ?(?:signals?|walls?|side|pressure|orders?|the dip)\b)",
    TRADED: r"(?:trades?|trading|swaps?|swapping|converts?|rotates?|shorting|flip|flipped|flipping|scalp|scalping)",
    WATCHED: r"(?:watch|eye|track|tracks|monitor|monitors|follow|follows)",
}
"""Words whose object follows them."""

EITHER = {
    EXITED: r"(?:(?:longs?|shorts?|positions?|trades?) (?:(?:was|were|is|got|has been) )?"
    r"(?:closed|stopped out|exited|liquidated|sold)"
    r"|(?:sold|exited|stopped out(?: of)?|liquidated|closed out|cashed out|took profits?|taking profits?)"
    rf"(?! off\b){_OBJECT}{_POSITION})",
    HOLDS: rf"(?:(?<!as )(?<!too )(?<!how )(?<!so )longs?{_NO_TERM}|longed|bought|accumulated|accumulating|holding|"
    r"hodl(?:ing|s)?)",
    TRADED: rf"(?:swapped|traded|converted|rotated|shorted|shorts?{_NO_TERM}|scalped)",
    WATCHED: r"(?:watching|eyeing|tracking|monitoring|following|keep(?:ing)? an eye on|watch ?list|"
    r"on (?:my|the|our) radar)",
}
"""Words whose object stands on either side."""

CHINESE = {
    TRADED: "买卖|交易(?!所|对|量|员|费|时间|日|手续|策略|系统)|兑换|换成|换仓|互换|做空|开空",
    EXITED: "止损(?!位|线|单|价|点|设)|止盈(?!位|线|单|价|点|设)|(?<!超)卖(?!压|盘|方|家|单)[出掉了光]?|平仓|平掉|"
    "清仓|离场|减仓|抛售|抛掉|割肉|爆仓",
    HOLDS: "做多|(?<!超)买(?!盘|方|家|单|点)[入进了]?|持有|持仓(?!量|比|费|成本)|加仓|建仓|抄底|开多|定投|增持|吸筹|囤",
    WATCHED: "关注|观察|盯着?|留意|监控|观望|追踪|跟踪",
}
"""Chinese words; their object stands on either side."""


def english_pattern() -> re.Pattern[str]:
    """Return the English verbs in one pattern, a group each; what binds more words comes first."""
    either = "|".join(f"(?P<{name}>{words})" for name, words in EITHER.items())
    forward = "|".join(f"(?P<{name}_next>{words})" for name, words in FORWARD.items())
    initials = "[abcdefghklmoprstuw]"  # a verb begins with one of these; the look saves most of the time
    return re.compile(rf"(?<![A-Za-z$])(?={initials})(?:{either}|{forward})(?![A-Za-z])", re.IGNORECASE)


_ENGLISH = english_pattern()
_CHINESE = re.compile("|".join(f"(?P<{name}>{words})" for name, words in CHINESE.items()))
_NEGATION = re.compile(
    r"(?<![A-Za-z])(?:not(?! only)|never|no|cannot|without|avoid(?:s|ed|ing)?|refus(?:e|es|ed|ing)|neither|nor|stop|"
    r"(?:do|does|did|wo|would|ca|could|is|are|was|were|have|has|had|should)n['\u2019]?t|instead of|rather than|"
    r"wants? to|wanted to|wish(?:es)? to|plan(?:s|ned|ning)? to|waiting to|hop(?:e|es|ing) to|would|could|might)"
    r"(?![A-Za-z])|不(?!断|仅|少|错|久|过|同|管)|没|未(?!来)|(?<![特分级个类区识])别|勿|莫|禁止|避免|拒绝|停止|"
    "想|打算|考虑|计划",
    re.IGNORECASE,
)
_MARKS = r"。、\uff0c\uff1b\uff01\uff1f"  # the Chinese marks, of which some look like Latin ones
_BREAK = re.compile(
    r"(?P<stop>[;!?\n。\uff1b\uff01\uff1f]|\.(?=\s|$))|\uff0c|,(?=\s|$)|\s[-\u2013\u2014]+\s"
    r"|(?<![A-Za-z])(?:but|then|while|when|after|before|because|since|until|"
    r"although|though|whereas|vs|versus|against|where|which)(?![A-Za-z])|但|然后|之后|同时|而|因为"
    r"|(?P<condition>(?<![A-Za-z])(?:if|unless)(?![A-Za-z])|如果|若)|(?P<soft>(?<![A-Za-z])and(?![A-Za-z])|并|及|、|和)",
    re.IGNORECASE,
)
_GLUE = re.compile(
    r"[\s,\uff0c、/&+$]*(?:and|or|plus|以及|及|和|与|跟|或)?\s*"
    r"(?:(?:some|more|a bit of|[\d.,]{1,12}[kKmM%xX]?|一些|少量)\s*)?",
    re.IGNORECASE,
)
_LIST_GOES_ON = re.compile(
    rf"\s*(?:$|[.,;:!?)\n/&+@#\d{_MARKS}]"
    r"|(?:and|or|at|on|for|with|in|from|to|now|too|today|this|each|via|as|plus|"
    r"positions?|longs?|shorts?|perps?|spot|futures)(?![A-Za-z])"
    r"|及|和|与|以及|跟|或|现货|合约|多单|仓位|各|等|都|共|在|于)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Verb:
    """A verb of a text: what it says (None when it is negated), and whether its object may stand before it."""

    start: int
    end: int
    name: str | None
    is_either: bool


@dataclass(slots=True)
class Clause:
    """A piece of a text from one mark on: its verbs, and the places of its mentions in the list of all."""

    start: int
    verbs: Sequence[Verb]
    places: range


def bind_verbs(text: str, mentions: Sequence[Mention]) -> list[set[str]]:
    """Return what is said of each mention, in their order."""
    said: list[set[str]] = [set() for _ in mentions]
    verbs = list(find_verbs(text)) if mentions else []
    if verbs:
        clauses = list(cut_clauses(text, mentions, verbs))
        for clause in clauses:
            bind_clause(text, clause, mentions, said)
        share_in_lists(text, clauses, mentions, said)
        bind_exits(text, clauses, said)
    return said


def find_verbs(text: str) -> Iterator[Verb]:
    """Yield the verbs of a text in order, the negated ones too."""
    matches = _ENGLISH.finditer(text)
    if not text.isascii():
        matches = merge(matches, _CHINESE.finditer(text), key=re.Match.start)
    for match in matches:
        name, _mark, side = (match.lastgroup or "").partition("_")
        yield Verb(
            match.start(),
            match.end(),
            name,
            is_either=side != "next",
        )


def cut_clauses(
    text: str,
    mentions: Sequence[Mention],
    verbs: Sequence[Verb],
) -> Iterator[Clause]:
    """Yield the clauses with their verbs and mentions; a negated verb loses its name.

    A negation reaches over an "and" up to the first entity, "do not buy and hold DOGE", a condition to the end of its
    sentence, "if it falls, sell DOGE".
    """
    start = reach = first_verb = first_place = 0
    is_condition = False
    for mark_start, mark_end, mark in find_marks(text):
        next_verb = skip_before(mark_start, verbs, first_verb)
        next_place = skip_before(mark_start, mentions, first_place)
        clause = Clause(
            start,
            verbs[first_verb:next_verb],
            range(first_place, next_place),
        )
        for verb in clause.verbs:
            if is_condition or _NEGATION.search(text, max(reach, verb.start - NEGATION_CHARS), verb.start):
                verb.name = None
        yield clause
        start, first_verb, first_place = mark_end, next_verb, next_place
        if clause.places or mark != "soft":
            reach = mark_start
        is_condition = mark == "condition" or (is_condition and mark != "stop")


def find_marks(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield what ends a clause: from where to where, and what it is; the end of the text is the last."""
    for match in _BREAK.finditer(text):
        yield match.start(), match.end(), match.lastgroup or ""
    yield len(text), len(text), "stop"


def skip_before(end: int, items: Sequence[Verb] | Sequence[Mention], first: int) -> int:
    """Return the place of the first item, from `first` on, that does not begin before `end`."""
    while first < len(items) and items[first].start < end:
        first += 1
    return first


def bind_clause(
    text: str,
    clause: Clause,
    mentions: Sequence[Mention],
    said: list[set[str]],
) -> None:
    """Give each verb of a clause its objects: the list that follows, else the one before; a trade takes all."""
    slots = cut_slots(clause, mentions)
    for number, verb in enumerate(clause.verbs):
        is_before = verb.is_either and not slots[number + 1]
        side = number if is_before else number + 1
        fit = [place for place in slots[side] if may_say(verb.name, mentions[place])]
        if verb.name != TRADED:
            fit = first_list(text, fit[::-1] if is_before else fit, mentions)
        for place in fit:
            said[place] |= {verb.name} if verb.name else set()
        taken = set(fit)
        slots[side] = [place for place in slots[side] if place not in taken]


def cut_slots(clause: Clause, mentions: Sequence[Mention]) -> list[list[int]]:
    """Return the places of a clause before its first verb, behind that, behind the next, and so on."""
    slots: list[list[int]] = [[] for _ in range(len(clause.verbs) + 1)]
    passed = 0
    for place in clause.places:
        while passed < len(clause.verbs) and clause.verbs[passed].start < mentions[place].start:
            passed += 1
        slots[passed].append(place)
    return slots


def first_list(
    text: str,
    places: Sequence[int],
    mentions: Sequence[Mention],
) -> list[int]:
    """Return the first of the places and those that belong to one list with it."""
    chosen = list(places[:1])
    for one, other in pairwise(places):
        if not is_list(
            text,
            mentions[min(one, other)],
            mentions[max(one, other)],
        ):
            break
        chosen.append(other)
    return chosen


def share_in_lists(
    text: str,
    clauses: Sequence[Clause],
    mentions: Sequence[Mention],
    said: list[set[str]],
) -> None:
    """Let entities in clauses without a verb share what is said of the list which they are in."""
    idle = [place for clause in clauses if not clause.verbs for place in clause.places]
    for place in idle:
        before, here = mentions[place - 1], mentions[place]
        if place and is_list(text, before, here) and _LIST_GOES_ON.match(text, here.end):
            said[place] |= shared(said[place - 1], here)
    for place in reversed(idle):
        if place + 1 < len(mentions) and not said[place] and is_list(text, mentions[place], mentions[place + 1]):
            said[place] |= shared(said[place + 1], mentions[place])


def shared(verbs: set[str], mention: Mention) -> set[str]:
    """Return those of the verbs that can have this object."""
    return {verb for verb in verbs if may_say(verb, mention)}


def bind_exits(text: str, clauses: Sequence[Clause], said: list[set[str]]) -> None:
    """Give an exit that begins a clause without entities what was held or traded in the last clause that has some."""
    last: Sequence[int] = ()
    for clause in clauses:
        first = clause.verbs[0] if clause.verbs else None
        is_exit = first is not None and first.name == EXITED and not text[clause.start : first.start].strip()
        if is_exit and not clause.places:
            for place in last:
                said[place] |= {EXITED} if said[place] & {HOLDS, TRADED} else set()
        last = clause.places or last


def is_list(text: str, one: Mention, other: Mention) -> bool:
    """Say whether nothing but a comma, an "and" or an amount stands between two mentions."""
    return other.start - one.end <= GLUE_CHARS and _GLUE.fullmatch(text, one.end, other.start) is not None


def may_say(verb: str | None, mention: Mention) -> bool:
    """Say whether a verb can have this object."""
    return verb in (None, WATCHED) or mention.entity.kind is not EntityKind.CHAIN
