"""What is read aloud of a page, and which words of it are left in English."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from memory_app.roles.core import Classification
from minara_site.access.models import ApiKey, User
from minara_site.access.policy import Scope
from minara_site.kernel.core.vocabulary import Category, Source
from profile_app.workspace.core.names import FileName

IDENTIFIERS = {
    *Category,
    *Source,
    *Scope,
    *"Minara minara worker OpenClaw Hermes JSON Lines apply v1/tools Claude".split(),
    *"API SHA-256 BM25 UTC AND OR NOT source prefix operator revoke n J K X English".split(),
    *"PIN JavaScript RRF MCP Code Cursor zip MiB arbitrum 0x long SOL memory_write memory_learn memory_compiled_page".split(),
    *"mem0 get_all OpenMemory Letta af minara.db".split(),
    *"Web3 FOMO FUD EVM Solana Hyperliquid UTF-8 NUL Schedule workspace".split(),
    *FileName,
    *Classification,
    *"ANTHROPIC_API_KEY MINARA_SKILL_MODULES MEMORY_CONSOLIDATION_ENABLED asset get_price relative_performance".split(),
    *"trade-cases learning seed POST v1/methodologies DeFi T-20931 XRP".split(),
    *"INSTITUTION_LEARNING_ENABLED cancel ETH".split(),
    *"BTC EUR/USD risk risk_tolerance home_language conservative".split(),
}
SILENT_TAGS = {"script", "style", "svg", "kbd", "code", "pre", "noscript"}
SILENT_CLASSES = {"mono", "cat", "ticker", "bytes", "fence", "p", "avatar"}
SPOKEN = ("aria-label", "title", "placeholder", "alt", "data-words", "data-label", "data-copied")
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
LATIN = re.compile(r"[A-Za-z0-9]*[A-Za-z][A-Za-z0-9]*(?:[_:/.'’-][A-Za-z0-9]+)*")


class Reader(HTMLParser):
    """Collects the texts and the attributes that speak, without code, names and time zones; and where links lead."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.language, self.texts, self.links = "", [], []
        self.inside: list[tuple[str, bool]] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        classes = set(given.get("class", "").split())
        if tag == "html":
            self.language = given["lang"]
        if tag == "a":
            self.links.append(given.get("href", ""))
        if "mono" not in classes:
            self.texts += [given[name] for name in SPOKEN if name in given]
        if tag not in VOID:
            hushed = tag in SILENT_TAGS or classes & SILENT_CLASSES or given.get("id") == "id_time_zone"
            self.inside.append((tag, self.is_silent or bool(hushed)))

    def handle_endtag(self, tag: str) -> None:
        while self.inside and self.inside.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self.is_silent:
            self.texts.append(data)

    @property
    def is_silent(self) -> bool:
        return bool(self.inside) and self.inside[-1][1]


def words_left(markup: str) -> Iterator[str]:
    """Yield each Latin word that is no identifier, with what it stands in, and a language that is not Chinese."""
    page = Reader(markup)
    if page.language != "zh-Hans":
        yield f"is in {page.language}"
    known = {
        *IDENTIFIERS,
        *User.objects.values_list("username", flat=True),
        *ApiKey.objects.values_list("prefix", flat=True),
    }
    for text in page.texts:
        yield from (f"“{word}” in “{text.strip()}”" for word in LATIN.findall(text) if word not in known)
