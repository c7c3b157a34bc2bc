"""Amounts of money and assets, addresses and transaction hashes in a text, for readers who must not see them.

Generous on purpose: every number beside the sign, code or name of a currency or asset counts, so that a price written
as "$2.285" is an amount, and every number behind a word such as "size" or "bought". A bare price ("at 2.285"), a
percentage, a multiple ("3x"), a time and the setting of an indicator ("RSI 28") are none. Pure; source: decisions.
"""

import re
from collections.abc import Iterable, Iterator

from minara_site.kernel.core.assets import FIAT, narrowed
from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.core.excerpt import Segment, cut
from minara_site.kernel.core.hidden import find_hidden
from minara_site.kernel.core.tickers import any_of, chinese, ticker_symbol

_TABLE = {name: text.split() for name, text in load_toml(__package__, "amounts.toml").items()}
_UNITS = frozenset(_TABLE["units"])

_MULTIPLE = rf"(?:[ \t-]?(?:{any_of(_TABLE['multiples'])})(?![a-z])|[km](?=(?:usd|btc|eth|u\b)))*"
_NUMBER = (  # 12,400.50 · 1'000 · 1 000 · .5 · 12k · 1.5万 · 3 million · 1e5
    rf"(?:\d{{1,3}}(?:[ \u00a0\u202f]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,'\u2019]\d+)*|\.\d+)"
    rf"(?:e[+-]?\d+)?{_MULTIPLE}"
)
_RANGE = r"\s?(?:-|\u2013|\u2014|~|to|至|到)\s?"
_FROM = r"(?<![A-Za-z0-9_.])(?<![0-9],)[+\-\u2212~≈]?"
_SIGN = r"(?:us|hk|a|c|s|nt|r)?[$€£¥￥₿₩₹฿₽₺Ξ]"
_NO_AMOUNT = (
    rf"(?!\d|[.,:/-]\d|[ \t-]?(?:[%‰]|{chinese(_TABLE['no_amount'])}|(?:{any_of(_TABLE['no_amount'])})(?![a-z])))"
)
_BEHIND_SIGN = re.compile(
    rf"[+\-\u2212]?{_SIGN}\s?[+\-\u2212]?{_NUMBER}(?:{_RANGE}(?:{_SIGN})?{_NUMBER})?",
    re.IGNORECASE,
)
_BEFORE_UNIT = re.compile(
    rf"(?P<amount>{_FROM}{_NUMBER}(?:{_RANGE}{_NUMBER})?)[ \t\u00a0\u202f-]{{0,2}}"
    r"(?:(?:us|more|extra|spot|perp|wrapped|staked|worth|in|of|my|the)[ -]){0,3}"
    rf"(?:(?P<sign>{_SIGN})|(?P<chinese>个?(?:{any_of(_TABLE['chinese_units'] + _TABLE['chinese_counts'])}))"
    r"|(?P<word>个?\$?[a-z][a-z0-9.]{0,15}|个?[\u4e00-\u9fff]{2,5}))",
    re.IGNORECASE,
)
_NUMERALS = "一二三四五六七八九十百千万亿两零〇半几数"
_CHINESE_NUMERAL = re.compile(
    rf"(?P<amount>(?<![{_NUMERALS}])[{_NUMERALS}]{{1,16}})\s?(?:多|余|来)?(?:{any_of(_TABLE['chinese_units'])})",
    re.IGNORECASE,
)
_WORDS = any_of(_TABLE["number_words"])
_NUMBER_WORDS = re.compile(
    rf"(?P<amount>\b(?:{_WORDS})(?:(?:[ -]|\s?and\s)(?:a\s)?(?:{_WORDS}))*)\s(?P<word>\$?[a-z][a-z0-9]{{1,15}})\b",
    re.IGNORECASE,
)
_BEHIND_CODE = re.compile(
    rf"(?<![a-z0-9/:_-])(?:{any_of(_TABLE['codes_before'])})[ \t:]{{0,2}}"
    rf"(?P<amount>[+\-\u2212]?{_NUMBER})(?![a-z0-9_])",
    re.IGNORECASE,
)
_BEHIND_WORD = re.compile(
    rf"(?:(?<![a-z])(?<!stop )(?<!stop-)(?<!take )(?<!take-)(?:{any_of(_TABLE['counted'])})(?![a-z])"
    rf"|(?:{any_of(_TABLE['chinese_counted'])}))"
    r"(?:\s?(?:of|is|was|about|around|approx\.?|up to|only|=|:|约|為|为|是|了|共|达|到)){0,2}\s?"
    rf"(?P<amount>[+\-\u2212~≈]?{_NUMBER})(?![a-z0-9_]){_NO_AMOUNT}",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"0x[0-9a-f]{6,}|0x[0-9a-f]{2,}(?:…|\.{2,3})[0-9a-f]{2,}"
    r"|(?<![0-9a-z])[a-z]{1,12}1[02-9ac-hj-np-z]{25,90}(?![0-9a-z])"  # bech32: bc1, ltc1, addr1, cosmos1
    r"|(?<![0-9a-z])(?=[a-z]*[0-9])(?=[0-9]*[a-z])[0-9a-z]{26,}(?![0-9a-z])"  # base58, hex, signatures
    r"|(?<![0-9a-z])[0-9a-z]{4,10}(?:…|\.{3})[0-9a-z]{4,10}(?![0-9a-z])"
    r"|(?<![a-z0-9_.-])[a-z0-9][a-z0-9_-]{0,62}(?:\.[a-z0-9_-]{1,63})?\.(?:eth|sol|bnb|crypto|lens|arb|btc|ton|sui|apt)"
    r"(?![a-z0-9_])"
    r"|(?<![a-z0-9_.+-])[a-z0-9_.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,4}",
    re.IGNORECASE,
)


def mask_amounts(text: str) -> tuple[Segment, ...]:
    """Return the text in pieces; the marked ones are amounts, addresses and hashes, not to be shown."""
    return cut(text, find_amounts(text))


def hide_amounts(text: str) -> str:
    """Return the text with dots for what `mask_amounts` marks."""
    return "".join("••••" if is_private else part for part, is_private in mask_amounts(text))


def find_amounts(text: str) -> list[tuple[int, int]]:
    """Return start and end of each amount, address and hash, in no order; they may overlap.

    A unit behind a number stays outside. Hidden characters and full-width digits hide nothing.
    """
    hidden = {each.index for each in find_hidden(text)}
    places = [place for place in range(len(text)) if place not in hidden]
    plain = narrowed("".join(text[place] for place in places))
    spans = [hit.span() for hit in _ADDRESS.finditer(plain)]
    spans += [hit.span() for hit in _BEHIND_SIGN.finditer(plain)]
    spans += [hit.span("amount") for hit in find_named(plain)]
    return [(places[start], places[end - 1] + 1) for start, end in spans]


def find_named(plain: str) -> Iterator[re.Match[str]]:
    """Yield the numbers that a word makes amounts."""
    for pattern in (_BEHIND_CODE, _BEHIND_WORD, _CHINESE_NUMERAL):
        yield from pattern.finditer(plain)
    yield from (hit for hit in _BEFORE_UNIT.finditer(plain) if hit["sign"] or hit["chinese"] or is_unit(hit["word"]))
    yield from (hit for hit in _NUMBER_WORDS.finditer(plain) if is_unit(hit["word"]))


def is_unit(word: str) -> bool:
    """Say whether a word behind a number names a currency or an asset."""
    word = word.removeprefix("个")
    tagged = word.startswith("$")
    names: Iterable[str] = (word, *(word[:size] for size in range(2, len(word)))) if not word.isascii() else (word,)
    return any(
        name.lower() in _UNITS or name in FIAT or ticker_symbol(name.removeprefix("$").rstrip("."), is_tagged=tagged)
        for name in names
    )
