"""The assets, chains and addresses that a text mentions: tables and patterns, no model (S1, entity boost and edges).

`EUR/USD` is one forex pair, `EURUSD`; of `BTC-USDT` only `BTC` is meant. A symbol or name that is also a common word
counts only as it is written for the asset (`LINK`, `$link`, `Apple`), a chain beside its word (`on base`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class EntityKind(StrEnum):
    """What an entity is."""

    TICKER = "ticker"
    CHAIN = "chain"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing that a text mentions. `key` is canonical: `BTC`, `EURUSD`, `arbitrum`, `0xab…` in lower case."""

    kind: EntityKind
    key: str


TICKERS: dict[str, tuple[str, ...]] = {
    "BTC": ("bitcoin", "xbt", "wbtc", "比特币", "大饼"),
    "ETH": ("ethereum", "ether", "weth", "以太坊", "以太币"),
    "SOL": ("solana", "索拉纳"),
    "BNB": ("币安币",),
    "XRP": ("ripple", "瑞波币"),
    "DOGE": ("dogecoin", "狗狗币"),
    "SHIB": ("柴犬币",),
    "PEPE": (),
    "ADA": ("cardano", "艾达币"),
    "TRX": ("tron", "波场币"),
    "AVAX": ("avalanche",),
    "DOT": ("polkadot", "波卡"),
    "LTC": ("litecoin", "莱特币"),
    "BCH": ("比特现金",),
    "LINK": ("chainlink",),
    "UNI": ("uniswap",),
    "AAVE": (),
    "MKR": ("makerdao",),
    "CRV": (),
    "LDO": (),
    "ARB": (),
    "OP": (),
    "POL": ("matic",),
    "ATOM": (),
    "NEAR": (),
    "APT": (),
    "SUI": (),
    "TON": ("toncoin",),
    "HYPE": ("hyperliquid",),
    "FIL": ("filecoin",),
    "ETC": (),
    "XLM": (),
    "XMR": ("monero", "门罗币"),
    "TIA": ("celestia",),
    "INJ": ("injective",),
    "SEI": (),
    "WIF": ("dogwifhat",),
    "BONK": (),
    "USDT": ("tether", "泰达币"),
    "USDC": (),
    "DAI": (),
    "FDUSD": (),
    "TUSD": ("trueusd",),
    "AAPL": ("apple", "苹果公司"),
    "MSFT": ("microsoft", "微软"),
    "NVDA": ("nvidia", "英伟达"),
    "TSLA": ("tesla", "特斯拉"),
    "AMZN": ("amazon", "亚马逊"),
    "GOOGL": ("goog", "google", "alphabet", "谷歌"),
    "META": (),
    "NFLX": ("netflix", "奈飞"),
    "AMD": (),
    "INTC": ("intel", "英特尔"),
    "COIN": ("coinbase",),
    "MSTR": ("microstrategy",),
    "PLTR": ("palantir",),
    "BABA": ("alibaba", "阿里巴巴"),
    "TSM": ("tsmc", "台积电"),
    "SPY": (),
    "QQQ": (),
    "IBIT": (),
    "TLT": (),
    "SPX": ("标普500", "标普"),
    "NDX": ("nasdaq", "纳斯达克", "纳指"),
    "DJI": ("道琼斯", "道指"),
    "VIX": ("恐慌指数",),
    "DXY": ("美元指数",),
    "HSI": ("恒生指数", "恒指"),
    "XAU": ("gold", "黄金"),
    "XAG": ("silver", "白银"),
    "WTI": (),
    "BRENT": ("布伦特",),
}
"""A symbol and the other names of its asset."""

FIAT = frozenset("USD EUR GBP JPY CHF AUD NZD CAD CNY CNH HKD SGD KRW INR MXN SEK NOK TRY ZAR BRL".split())  # noqa: SIM905
QUOTES = FIAT | {"USDT", "USDC", "FDUSD", "DAI", "TUSD", "PERP"}
"""What stands second in a pair. Two fiat currencies are one asset; otherwise the first half is meant."""

WORDLIKE = frozenset(
    "ada apple alphabet apt atom avalanche coin dot ether etc gold hype link meta near op pol ripple silver spy sui "  # noqa: SIM905
    "tether tia ton uni wif".split()
)
"""Symbols and names that are common words too: a symbol counts in capitals, a name with a capital, either after $."""

CHAINS: dict[str, tuple[str, ...]] = {
    "ethereum": ("以太坊",),
    "bitcoin": ("比特币",),
    "solana": (),
    "arbitrum": (),
    "optimism": (),
    "base": (),
    "polygon": (),
    "avalanche": (),
    "bsc": ("币安",),
    "tron": ("波场",),
    "zksync": (),
    "linea": (),
    "scroll": (),
    "starknet": (),
    "blast": (),
    "mantle": (),
    "sui": (),
    "aptos": (),
    "near": (),
    "ton": (),
    "hyperevm": (),
    "berachain": (),
}
"""A chain and its Chinese names."""

PLAIN_CHAINS = frozenset({"arbitrum", "aptos", "bsc", "zksync", "linea", "starknet", "hyperevm", "berachain"})
"""Chains whose name means nothing else."""


def names_of(table: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Return every name of a table, folded, with its key."""
    return {name.casefold(): key for key, names in table.items() for name in (key, *names)}


def chinese(names: dict[str, str]) -> str:
    """Return a pattern for the Chinese names of a table, long ones first."""
    return "|".join(sorted((name for name in names if not name.isascii()), key=len, reverse=True))


TICKER_OF = names_of(TICKERS)
CHAIN_OF = names_of(CHAINS)

_WORD = re.compile(
    r"(?<![A-Za-z0-9])(\$?)([A-Za-z][A-Za-z0-9]{1,19})(?![A-Za-z0-9])(?:[/_-]([A-Za-z]{3,5})(?![A-Za-z0-9]))?"
)
_BEFORE_CHAIN = re.compile(r"\b(?:on|onto|via|bridged? to) $", re.IGNORECASE)
_AFTER_CHAIN = re.compile(r" (?:chain|network|mainnet|l2)\b", re.IGNORECASE)
_CHINESE_TICKER = re.compile(rf"(?:{chinese(TICKER_OF)})(?!分割|交叉)")
_CHINESE_CHAIN = re.compile(rf"({chinese(CHAIN_OF)})(?:智能)?(?:链|主网|网络|上)")
_LONG_WORD = re.compile(r"(?<![0-9A-Za-z])[0-9A-Za-z]{26,80}(?![0-9A-Za-z])")
_ADDRESS = re.compile(
    r"0x[0-9a-fA-F]{40}|bc1[ac-hj-np-z02-9]{23,71}"
    r"|(?=[A-Za-z]*[1-9])(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[1-9A-HJ-NP-Za-km-z]{26,44}"
)
_KNOWN = TICKER_OF.keys() | CHAIN_OF.keys()
_QUOTE_ENDINGS = tuple(quote.lower() for quote in QUOTES)


def extract_entities(text: str) -> tuple[Entity, ...]:
    """Return what a text mentions, each entity once, in the order of first mention."""
    found = [*find_words(text), *find_addresses(text)]
    if not text.isascii():
        found += find_chinese(text)
    return tuple(dict.fromkeys(entity for _at, entity in sorted(found, key=lambda each: each[0])))


def find_words(text: str) -> Iterator[tuple[int, Entity]]:
    """Yield tickers and chains among the Latin words, with their places."""
    for match in _WORD.finditer(text):
        dollar, first, second = match.groups()
        folded = first.lower()
        if not (dollar or second or folded in _KNOWN or folded.endswith(_QUOTE_ENDINGS)):
            continue
        symbol = pair_symbol(first, second) if second else None
        if symbol is not None:
            yield match.start(), Entity(EntityKind.TICKER, symbol)
            continue
        for group in (2, 3) if second else (2,):
            word = match[group]
            if is_chain(text, match.start(group), match.end(group)):
                yield match.start(group), Entity(EntityKind.CHAIN, CHAIN_OF[word.casefold()])
            symbol = ticker_symbol(word, is_tagged=bool(dollar))
            if symbol is not None:
                yield match.start(group), Entity(EntityKind.TICKER, symbol)


def pair_symbol(first: str, second: str) -> str | None:
    """Return what a pair means: EUR/USD is EURUSD, BTC-USDT and btc/usd are BTC; None when it is no pair."""
    base, quote = first.upper(), second.upper()
    if quote not in QUOTES:
        return None
    if base in FIAT:
        return base + quote if quote in FIAT else None
    return TICKER_OF.get(first.casefold()) or (base if first.isupper() else None)


def ticker_symbol(word: str, *, is_tagged: bool) -> str | None:
    """Return the symbol that a word stands for; `is_tagged` after a dollar sign."""
    folded = word.casefold()
    symbol = TICKER_OF.get(folded)
    if symbol is None:
        return compact_pair(word) or (word.upper() if is_tagged and word.upper() not in FIAT else None)
    if is_tagged or folded not in WORDLIKE:
        return symbol
    is_written_for_it = word.isupper() if word.upper() in TICKERS else word[0].isupper()
    return symbol if is_written_for_it else None


def compact_pair(word: str) -> str | None:
    """Return what a pair without a separator means: EURUSD is itself, BTCUSDT is BTC."""
    upper = word.upper()
    pairs = ((upper[:-size], upper[-size:]) for size in (3, 4, 5))
    return next((pair_symbol(base, quote) for base, quote in pairs if base in FIAT or base in TICKERS), None)


def is_chain(text: str, start: int, end: int) -> bool:
    """Say whether the word between two offsets names a chain: it means nothing else, or it stands beside its word."""
    name = text[start:end].casefold()
    if name not in CHAIN_OF:
        return False
    is_beside = _BEFORE_CHAIN.search(text, max(0, start - 12), start) or _AFTER_CHAIN.match(text, end)
    return name in PLAIN_CHAINS or is_beside is not None


def find_addresses(text: str) -> Iterator[tuple[int, Entity]]:
    """Yield wallet and contract addresses; a transaction hash is none."""
    for match in _LONG_WORD.finditer(text):
        address = match.group()
        if _ADDRESS.fullmatch(address):
            yield match.start(), Entity(EntityKind.ADDRESS, address.lower() if address.startswith("0x") else address)


def find_chinese(text: str) -> Iterator[tuple[int, Entity]]:
    """Yield the assets and chains that are named in Chinese."""
    for match in _CHINESE_TICKER.finditer(text):
        yield match.start(), Entity(EntityKind.TICKER, TICKER_OF[match.group()])
    for match in _CHINESE_CHAIN.finditer(text):
        yield match.start(), Entity(EntityKind.CHAIN, CHAIN_OF[match[1]])
