"""Which price a text means: one in dollars has the asset's symbol, `BTC`; in anything else it names both, `ETH/BTC`.

The one way from a spelling to a symbol. A perpetual is its pair. What has a price of its own, a dated future, an
option, a multiple such as `KPEPE`, a market of a builder such as `XYZ:TSLA`, stays as it was sent, in capitals. Of a
venue that is not in the table nothing is dropped. Pure.
"""

import re
from enum import StrEnum

from minara_site.kernel.core.assets import (
    ASSETS,
    CLASS_OF,
    FIAT,
    TICKER_OF,
    TICKERS,
    AssetClass,
    AssetGroup,
    classify,
    group_of,
    is_forex_pair,
    narrowed,
)
from minara_site.kernel.core.venues import (
    AFTER,
    AMERICAN,
    BEFORE,
    BUILDERS,
    CLEAR,
    DIGITS,
    EXCHANGES,
    KRAKEN,
    PLAIN,
    SEVERAL,
    SUFFIXES,
)

MAX_CHARS, MAX_WORD_CHARS, MAX_SENT_CHARS = 32, 16, 100
USD_LIKE = ASSETS[AssetClass.STABLECOIN].keys() | {"USD", "PERP"}
"""Quotes that a price in dollars may have: the dollar, what is worth one, and a perpetual without a quote."""
MONEY = USD_LIKE | FIAT
QUOTES = MONEY | {"BTC", "XBT", "ETH", "BNB"}
"""Quotes that a pair without a mark may have."""
GLUED = frozenset({"TUSD", "BUSD"})
"""Quotes behind which another coin may end before USD: BATUSD is no BA in TUSD."""
CERTAIN = QUOTES - GLUED
STABLE = frozenset({"USDT", "USDC", "FDUSD", "PERP"})
"""Quotes that are known by themselves behind a coin that the table does not know."""
PERPETUALS = frozenset({"PERP", "PERPETUAL", "SWAP", "UM", "INTX"})
"""What exchanges write behind a pair or an asset: words for a perpetual, and for the sort of market."""
LEADS = ("PF_", "PI_", "PERP_")
"""What exchanges write before a pair."""
BLOOMBERG = {"IND": "INDEX", "CUR": "CURNCY"}
"""How the pages of Bloomberg write what its terminal writes."""
STAKED = frozenset({"S", "F"})
"""What Kraken writes behind coins that are lent out: ETH.S, DOT28.S."""
OVER_DOLLAR = frozenset({"EUR", "GBP", "AUD", "NZD"})
"""Currencies whose price in dollars is asked for by their name alone."""
BEHIND_FIRST = BLOOMBERG.keys() | {"US"}
"""What stands behind a symbol though that is a venue's name too: HSI:IND."""
BEHIND_COLON, BEHIND_DOT = BEFORE | AFTER, CLEAR | SUFFIXES
"""What may stand behind a symbol and a colon, or a dot."""
NAMED = {name.upper(): symbol for name, symbol in TICKER_OF.items() if name.isascii()}
"""The assets by their symbols and names in capitals."""

_BASE = re.compile(r"(?=[0-9]*[A-Z])[A-Z0-9](?:[A-Z0-9.]{0,14}[A-Z0-9])?")
_QUOTE = re.compile(r"(?=[0-9]*[A-Z])[A-Z0-9]{2,10}")
_PAIR = re.compile(r"([A-Z0-9]{1,16})[/_-]([A-Z]{3,5})(?:[/_-](?:PERP|SWAP|PERPETUAL)|[:_]\2|:\1)?")
_SPLIT = re.compile(r"[/:_@-]")
_BUILDERS_PAIR = re.compile(r"([A-Z0-9]+)-([A-Z0-9]+)/([A-Z]+):\3")
_SHARES = re.compile(r"([A-Z]{2,5})[ ./_-]([A-C])")
_LISTED = re.compile(r"[A-Z0-9]{1,9}(?:[-._][A-Z0-9]{1,4})?")
_REUTERS_SHARES = re.compile(r"([A-Z]+)([abc])(\.[A-Z]+)")
_OPTION = re.compile(r"[A-Z]{1,6}[0-9]{6}[CP][0-9]{8}")
_MARKET = re.compile(
    r"@[0-9]{1,6}|(?=[^A-Z]*[A-Z])(?:[A-Z0-9]+(?:[-._:][A-Z0-9]+)*(?:=F|(?<=[0-9])!)?|[A-Z0-9-]+/[A-Z0-9]+:[A-Z0-9-]+)"
)
_OWN_PRICE = re.compile(
    rf"K(?:{'|'.join(ASSETS[AssetClass.MEME_COIN])})|1M[A-Z]{{3,}}|[0-9]{{4,}}[A-Z]+|[A-Z]+[0-9]{{4,}}[A-Z0-9]*"
    r"|[A-Z0-9]{2,}[FGHJKMNQUVXZ](?:20)?[0-9]{1,2}|[A-Z]+C[0-9]|[A-Z]+[0-9]{1,2}[A-Z]{3}[0-9]{2}"
)
"""Words that are a market of their own: a multiple of an asset, a future of a month, an option."""


class SymbolKind(StrEnum):
    """What a symbol stands for: an asset priced in dollars, two assets, or a market that no other price judges."""

    ASSET = "asset"
    PAIR = "pair"
    MARKET = "market"


class How(StrEnum):
    """How a text became its symbol."""

    AS_SENT = "as_sent"
    NAME = "name"  # Bitcoin
    VENUE = "venue"  # NASDAQ:AAPL, TSE:7203
    QUOTE = "quote"  # BTC-USDT-PERP
    SPELLING = "spelling"  # ^GSPC, BRK-B, EUR/USD, ETHBTC
    OWN_MARKET = "own_market"  # kPEPE, BTC-27JUN25


def normalise_symbol(text: str) -> str | None:
    """Return the symbol under which a price is stored, None for what names no one price.

    BTC, $btc, BTCUSDT, BTC-USDT-PERP, BINANCE:BTCUSDT.P and Bitcoin are BTC; ETHBTC is ETH/BTC, BTC/EUR stays, EUR/USD
    is EURUSD. NASDAQ:AAPL and AAPL.O are AAPL, TSE:7203 is 7203.T, ^GSPC is SPX, BRK-B is BRK.B. A word that the table
    does not know stays as it is.
    """
    if len(text) > MAX_SENT_CHARS:
        return None
    wanted = text.strip()
    if not wanted.isascii():
        wanted = narrowed(wanted).removeprefix("$")
        if not wanted.isascii():
            return TICKER_OF.get(wanted.casefold())
    upper = wanted.upper()
    if upper in NAMED:
        return NAMED[upper]
    if upper.isalnum():
        return symbol_of_word(upper)
    pair = _PAIR.fullmatch(upper)
    if pair and is_pair(pair[1], pair[2]):
        return symbol_of_pair(pair[1], pair[2])
    venue, _colon, name = upper.partition(":")
    if name and venue in BEFORE and name not in BEHIND_FIRST:
        symbol = read_listed(BEFORE[venue], name.lstrip())
    else:
        symbol = read_marked(upper, wanted) if upper and upper.isprintable() else None
    return symbol if symbol and len(symbol) <= MAX_CHARS else None


def normalise_asset(text: str) -> str | None:
    """Return the asset that a text is about: of a price in money the first half, None for two assets, BTC/ETH."""
    return asset_in(normalise_symbol(text))


def asset_of_market(name: str) -> str | None:
    """Return the asset that a venue's market is about: PEPE for kPEPE, TSLA for xyz:TSLA, BTC for UBTC.

    One that the table does not know is read as elsewhere; the number of a market (@107) is no asset.
    """
    asset = normalise_asset(name)
    if asset is None or asset.startswith("@"):
        return None
    bare = name.rpartition(":")[2].partition("/")[0]
    names = (asset, bare.upper(), bare[1:].upper() if bare[:1] in {"k", "U"} else "")
    return next((each for each in names if classify(each)), asset)


def asset_in(symbol: str | None) -> str | None:
    """Return the asset whose price a symbol is, None for that of two assets."""
    base, slash, quote = (symbol or "").partition("/")
    return base or None if not slash or quote in FIAT else None


def kind_of(symbol: str) -> SymbolKind:
    """Return what a normalised symbol stands for."""
    if symbol in CLASS_OF:
        return SymbolKind.ASSET
    if "/" in symbol and ":" not in symbol:
        return SymbolKind.PAIR
    is_own = _OWN_PRICE.fullmatch(symbol) or not (symbol.isalnum() or class_of(symbol))
    return SymbolKind.MARKET if is_own else SymbolKind.ASSET


def class_of(symbol: str) -> AssetClass | None:
    """Return the class of a symbol, also of a listing, 7203.T, and of a class of shares, BRK.B.

    Pages of assets and coverage are of the table's assets alone: `classify`.
    """
    name, dot, suffix = symbol.rpartition(".")
    of_name = classify(name)
    is_coin = of_name is not None and of_name.group is AssetGroup.CRYPTO and len(suffix) == 1
    is_stock = suffix in EXCHANGES or (suffix in {"A", "B", "C"} and of_name in {None, AssetClass.STOCK})
    return AssetClass.STOCK if dot and is_stock and not is_coin else classify(symbol)


def symbol_of_name(name: str, *, is_quoted: bool = False) -> str | None:
    """Return the symbol of a name in capitals, which may have marks in it; `is_quoted` says that a word is a pair."""
    return symbol_of_word(name, is_quoted=is_quoted) if name.isalnum() else normalise_symbol(name)


def symbol_of_word(word: str, *, is_quoted: bool = False) -> str | None:
    """Return the symbol of letters and digits in capitals; `is_quoted` says that it is a pair."""
    word = KRAKEN.get(word, word)
    if word in NAMED:
        return NAMED[word]
    if len(word) == 8:  # noqa: PLR2004 two of Kraken's codes
        base, quote = word[:4], word[4:]
        if base in KRAKEN or (quote in KRAKEN and base in NAMED):
            return symbol_of_pair(KRAKEN.get(base, base), KRAKEN.get(quote, quote))
    if word[-4:] in QUOTES or word[-3:] in QUOTES or word[-5:] in QUOTES:
        pair = compact_pair(word)
        if pair or word in FIAT:
            return pair
        for size in (5, 4, 3):
            base, quote = word[:-size], word[-size:]
            if base and quote in (CERTAIN if is_quoted else STABLE) and not base.isdecimal():
                return symbol_of_pair(base, quote)
    is_short = len(word) <= MAX_WORD_CHARS and not word.isdecimal()
    return word if is_short or _OPTION.fullmatch(word) else None


def compact_pair(word: str) -> str | None:
    """Return the symbol of a known asset with a quote and no mark between them, None for any other word."""
    for size in (3, 4, 5):
        base, quote = word[:-size], word[-size:]
        if quote in GLUED and group_of(NAMED.get(base, "")) is not AssetGroup.CRYPTO:
            continue
        if quote in QUOTES and (base in NAMED or base in FIAT) and (symbol := symbol_of_pair(base, quote)):
            return symbol
    return None


def symbol_of_pair(base: str, quote: str) -> str | None:
    """Return the symbol of two halves in capitals, None when they are one asset, or one is no asset but a venue."""
    if base in FIAT:
        pair = base + ("USD" if quote in USD_LIKE else quote)
        return pair if is_forex_pair(pair) else None
    if quote in USD_LIKE:
        return NAMED.get(base) or symbol_of_name(base)
    halves = base, quote = NAMED.get(base, base), NAMED.get(quote, quote)
    is_named = _BASE.fullmatch(base) and _QUOTE.fullmatch(quote) and base != quote and quote not in PERPETUALS
    return f"{base}/{quote}" if is_named and all(half in TICKERS or half not in CLEAR for half in halves) else None


def is_pair(base: str, quote: str) -> bool:
    """Say whether two words are an asset and its quote for certain, and not a symbol beside its venue."""
    return quote in QUOTES and (base not in CLEAR or base in TICKERS or quote in MONEY)


def read_marked(text: str, sent: str) -> str | None:
    """Return the symbol of a text in capitals with marks in it; `sent` is the same with its small letters."""
    if text[0] == "$":
        return normalise_symbol(text[1:])
    if " " in text:
        return read_spaced(text, is_upper=sent.startswith(text.split(maxsplit=1)[0]))
    if text[0] in "^.":
        return read_index(text[1:])
    if "=" in text:
        return read_rate(text)
    symbol = read_colon(text) if ":" in text else None
    if not symbol and "." in text:
        symbol = read_dotted(text, sent)
    return symbol or read_parts(text)


def read_colon(text: str) -> str | None:
    """Return the symbol of a text whose venue or kind stands behind a colon, as on the pages of Bloomberg."""
    name, _colon, behind = text.rpartition(":")
    if name in BUILDERS or behind not in BEHIND_COLON:
        return read_spaced(f"{name} {BLOOMBERG[behind]}", is_upper=True) if behind in BLOOMBERG else None
    return read_listed(BEHIND_COLON[behind], name)


def read_dotted(text: str, sent: str) -> str | None:
    """Return the symbol of a text with a venue, a quote, a class of shares or the mark of a perpetual behind a dot."""
    small = _REUTERS_SHARES.fullmatch(sent)
    name, _dot, behind = "{}.{}{}".format(*small.groups()).upper().rpartition(".") if small else text.rpartition(".")
    if behind == "P":  # TradingView's mark of a perpetual pair; behind one name Reuters' of NYSE Arca
        symbol = normalise_symbol(name)
        return read_listed("US", name) if name in NAMED else symbol
    is_lent = behind in STAKED and (not name.isalpha() or group_of(NAMED.get(name, "")) is AssetGroup.CRYPTO)
    if behind in BEHIND_DOT and not is_lent:
        return read_listed(BEHIND_DOT[behind], name)
    if name in FIAT or (behind in QUOTES and name in NAMED):
        return symbol_of_pair(name, behind)
    return read_shares(text)


def read_spaced(text: str, *, is_upper: bool) -> str | None:
    """Return the symbol of a text of Bloomberg's, AAPL US Equity, or a class of shares, BRK B."""
    match text.split():
        case [name, "INDEX"]:
            return read_index(name) if name in NAMED or not name[-1].isdigit() else None
        case [name, "CURNCY"]:
            return read_rate(f"{name}=") or (read_index(name) if name in NAMED else None)
        case [name, code] | [name, code, "EQUITY"] if code in AFTER and is_upper:
            return read_listed(AFTER[code], name)
    return read_shares(text) if is_upper else None


def read_shares(text: str) -> str | None:
    """Return a class of shares in its one spelling, BRK.B."""
    shares = _SHARES.fullmatch(text)
    symbol = ".".join(shares.groups()) if shares and shares[1] not in FIAT else ""
    return symbol if class_of(symbol) else None


def read_index(name: str) -> str | None:
    """Return the symbol of an index, None for what is another asset."""
    symbol = symbol_of_word(name) if name.isalnum() else None
    return symbol if symbol and group_of(symbol) in {None, AssetGroup.INDEX} else None


def read_rate(text: str) -> str | None:
    """Return the symbol of a rate, EURUSD=X or Reuters' JPY=; a future, ES=F, is a market of its own."""
    name, _equals, kind = text.partition("=")
    if kind == "F":
        return market_of(text)
    if name in FIAT:
        is_over = name in OVER_DOLLAR and not kind
        name = f"{name}USD" if is_over else f"USD{name}"
    symbol = symbol_of_word(name) if kind in {"", "X"} and name.isalnum() else None
    return symbol if symbol and group_of(symbol) not in {None, AssetGroup.STOCK, AssetGroup.INDEX} else None


def read_listed(suffix: str, name: str) -> str | None:
    """Return the symbol of what is traded at a venue; None where its company has another code there."""
    if suffix == PLAIN:
        return symbol_of_name(name, is_quoted=True)
    if not name.isalnum():
        name = name.rstrip("./")  # in London BA. and BP.
        code, _dot, own = name.rpartition(".")
        if code and own in SUFFIXES:
            return read_listed(suffix, code) if SUFFIXES[own] == suffix else None
        name = read_shares(name) or name
    if suffix == SEVERAL or not _LISTED.fullmatch(name):
        return None
    if suffix == "US":
        return read_listed_in_us(name)
    if suffix == "CN":
        suffix = "SS" if name[0] in "569" else "SZ"
    is_code = name[0].isdigit()
    if is_code and suffix in DIGITS:
        name = (name.lstrip("0") if suffix == "HK" else name).zfill(DIGITS[suffix])
    symbol = f"{re.sub('[._]', '-', name)}.{suffix}"
    return NAMED.get(symbol) or (symbol if is_code or suffix not in DIGITS else None)


def read_listed_in_us(name: str) -> str | None:
    """Return the bare name, which means the American listing, but SNX.US where the bare name means something else."""
    if name.isdecimal():
        return None
    symbol = symbol_of_name(name)
    is_same = symbol == name and classify(name) in {None, AssetClass.STOCK, AssetClass.ETF}
    return symbol if is_same or name in AMERICAN else f"{name}.US"


def read_parts(text: str) -> str | None:
    """Return the symbol of words with marks between them: a pair, a perpetual, else a market of its own."""
    if "/" in text and (built := _BUILDERS_PAIR.fullmatch(text)):
        return f"{built[1]}:{built[2]}"  # as Hyperliquid itself writes it
    is_led = text.startswith(LEADS)
    parts = _SPLIT.split(text)[is_led:]
    words = len(parts)
    while parts and parts[-1] in PERPETUALS:
        parts.pop()
    if len(parts) == 3 and parts[2] in parts[:2]:  # noqa: PLR2004 what it is settled in
        parts.pop()
    if len(parts) == 1 and (is_led or words > 1):
        return symbol_of_name(parts[0], is_quoted=is_led)
    if len(parts) != 2 or (":" in text and "/" not in text and parts[0] not in NAMED):  # noqa: PLR2004
        return market_of(text)
    first, second = parts
    if is_pair(first, second):
        return symbol_of_pair(first, second)
    for venue, name in ((second, first), (first, second)):
        if venue in CLEAR and ":" not in text:
            return read_listed(CLEAR[venue], name)
    is_named = first in NAMED and second in NAMED and ":" not in text
    return read_shares(text) or (symbol_of_pair(first, second) if is_named or "/" in text else market_of(text))


def market_of(text: str) -> str | None:
    """Return a text that is the name of a market of its own, None when it is no name."""
    return text if _MARKET.fullmatch(text) else None


def how_read(text: str, symbol: str) -> How:
    """Return how a text became its symbol."""
    sent = narrowed(text).strip().removeprefix("$").upper()
    words = re.split(r"[^A-Z0-9_]+", sent.removesuffix(" EQUITY"))
    if kind_of(symbol) is SymbolKind.MARKET:
        return How.OWN_MARKET
    if sent == symbol:
        return How.AS_SENT
    if sent.casefold() in TICKER_OF:
        return How.NAME
    if words[0] and len(words) > 1 and (words[0] in BEFORE or words[-1] in BEHIND_COLON | SUFFIXES):
        return How.VENUE
    is_quoted = not is_forex_pair(symbol) and any(quote in sent for quote in USD_LIKE)
    return How.QUOTE if is_quoted else How.SPELLING
