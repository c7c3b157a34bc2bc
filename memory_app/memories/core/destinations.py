"""Wallet addresses and web addresses inside a text: where money or a browser would go. Pure. Source: trust P-10.

Finds shapes and checks no checksum: a mistyped address is as dangerous as a foreign one. Nothing here, and no page,
ever makes a link of one.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

MAX_FOUND = 20


class DestinationKind(StrEnum):
    """What stands there."""

    WALLET = "wallet"
    WEB = "web"


_BASE58 = "1-9A-HJ-NP-Za-km-z"
_MIXED = "".join(rf"(?=[{_BASE58}]{{0,43}}[{kind}])" for kind in ("0-9", "A-Z", "a-z"))  # a word is no address
_BECH32 = r"(?:bc|tb|ltc|cosmos|osmo|inj|terra|addr)1[ac-hj-np-z02-9]{25,103}"
_HEX = "0x[0-9a-fA-F]{40}"
_PLACE = r"[^\s<>\"'`|\\^{}\u3000-\u303f\uff00-\uffef]{1,2000}"
_SHAPES = re.compile(
    rf"(?P<{DestinationKind.WEB}>"
    rf"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{{1,19}}://{_PLACE}"
    rf"|(?<![A-Za-z0-9_.@/-])www\.{_PLACE}"
    rf"|(?<![A-Za-z0-9_.@/:-])(?:[a-z0-9-]{{1,63}}\.){{1,6}}[a-z]{{2,24}}/{_PLACE})"
    rf"|(?P<{DestinationKind.WALLET}>(?<![A-Za-z0-9])(?:"
    rf"{_HEX}"  # Ethereum and its kin
    rf"|{_BECH32}"
    rf"|{_MIXED}(?:[{_BASE58}]{{32,44}}|[13][{_BASE58}]{{25,33}})"  # Solana and TRON, Bitcoin
    r"|[a-z0-9-]{3,63}\.(?:eth|sol)"  # names that wallets resolve
    r")(?![A-Za-z0-9]))"
)
_CASELESS = re.compile(rf"(?:{_HEX}|{_BECH32})\Z")
_HOST = re.compile(r"(?:[^:/]+://)?[^/?#]*")
_CLOSING = ".,;:!?)]}>'\"\u2019\u201d"


@dataclass(frozen=True, slots=True)
class Destination:
    """One address and where it stands, counted in characters."""

    kind: DestinationKind
    text: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """Return the form in which two spellings of one address are the same: hex, bech32 and hosts know no case."""
        if self.kind is DestinationKind.WEB:
            return _HOST.sub(
                lambda host: host.group().lower(),
                self.text,
                count=1,
            )
        return self.text.lower() if _CASELESS.match(self.text) else self.text


def find_destinations(text: str) -> list[Destination]:
    """Return the addresses of a text in order, at most MAX_FOUND. Linear in its length."""
    found: list[Destination] = []
    for hit in _SHAPES.finditer(text):
        kind = DestinationKind(str(hit.lastgroup))
        words = hit.group().rstrip(_CLOSING) if kind is DestinationKind.WEB else hit.group()
        found.append(
            Destination(
                kind,
                words,
                hit.start(),
                hit.start() + len(words),
            )
        )
        if len(found) == MAX_FOUND:
            break
    return found
