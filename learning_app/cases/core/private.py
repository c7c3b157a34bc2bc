"""Amounts, addresses and secrets taken out of the words of a case, for a reader who is not its owner. Pure.

Figures of an analysis stay: `RSI(14) below 30`, `-3.2%`, `4h`, `10x`. An amount is a number beside a currency or an
asset, or one of four digits or more.
"""

import re

from minara_site.kernel.core.assets import FIAT, TICKER_OF, narrowed
from minara_site.kernel.core.redact import redact_text

AMOUNT, ADDRESS = "[amount]", "[address]"
MIN_DIGITS = 4

_SIGN = r"(?:[A-Z]{0,2}[$€£¥₿₩₹]|\b(?:" + "|".join(sorted(FIAT | {"USDT", "USDC"})) + r")\b)\s?"
_NUMBER = r"[0-9]++(?:[.,'\u00a0\u202f ][0-9]{3}(?![0-9]))*+(?:[.,][0-9]++)?+"
_SCALE = r"(?:k|mn?|mio|bn|thousand|million|billion)"
_WORDS = "dollars?|bucks|euros?|coins?|tokens?|shares?|contracts?|lots?|sats?|gwei|wei"
_UNIT = "|".join(re.escape(name) for name in sorted(TICKER_OF.keys() | {each.lower() for each in FIAT}, key=len)[::-1])
_CHINESE = r"[万亿千]|美元|美金|人民币|[元块枚股张手]"
_AMOUNT = re.compile(
    rf"(?P<sign>{_SIGN})?(?<![0-9A-Za-z])(?P<number>{_NUMBER})"
    rf"(?P<unit>\s?{_SCALE}?\s?(?:{_WORDS}|{_UNIT})(?![0-9A-Za-z])|\s?(?:thousand|million|billion|k|bn|mio)(?![0-9A-Za-z])"
    rf"|\s?(?:{_CHINESE})+)?",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"(?<![0-9A-Za-z])(?:0x[0-9a-fA-F]{3,}+(?:(?:\.{2,3}|…)[0-9a-fA-F]{2,})?|bc1[0-9a-z]{3,}+|[0-9a-fA-F]{64}"
    r"|(?=[A-Za-z]{0,43}[1-9])(?=[^a-z\s]{0,43}[a-z])(?=[^A-Z\s]{0,43}[A-Z])[1-9A-HJ-NP-Za-km-z]{26,88}"
    r"|[0-9A-Za-z_-]{1,64}\.eth|[0-9A-Za-z_.+-]{1,64}@[0-9A-Za-z.-]{1,64})(?![0-9A-Za-z])"
)


def hide_private(text: str) -> str:
    """Return the text with marks in place of amounts, addresses of wallets, e-mail addresses and secrets."""
    text = _ADDRESS.sub(ADDRESS, redact_text(narrowed(text)))
    return _AMOUNT.sub(_without_amount, text)


def _without_amount(found: re.Match[str]) -> str:
    digits = sum(char.isdigit() for char in found["number"])
    return AMOUNT if found["sign"] or found["unit"] or digits >= MIN_DIGITS else found.group()
