"""The assets that Minara knows, each in its class: the one table of symbols and names (decisions, "asset classes").

`EUR/USD` is one forex pair, `EURUSD`; of `BTC-USDT` only `BTC` is meant. Pure.
"""

import re
from enum import StrEnum
from itertools import permutations


class AssetGroup(StrEnum):
    """The five groups of the asset class standard (S2)."""

    CRYPTO = "crypto"
    STOCK = "stock"
    INDEX = "index"
    COMMODITY = "commodity"
    FOREX = "forex"


class AssetClass(StrEnum):
    """What kind of asset a symbol is."""

    MAJOR_CRYPTO = "major_crypto"
    LAYER_1 = "layer_1"
    LAYER_2 = "layer_2"
    DEFI_BLUE_CHIP = "defi_blue_chip"
    CRYPTO_ALT = "crypto_alt"
    MEME_COIN = "meme_coin"
    STABLECOIN = "stablecoin"
    STOCK = "stock"
    ETF = "etf"
    INDEX = "index"
    COMMODITY = "commodity"
    FOREX = "forex"

    @property
    def group(self) -> AssetGroup:
        """The group that the class belongs to."""
        return GROUP_OF[self]


GROUPS: dict[AssetGroup, tuple[AssetClass, ...]] = {
    AssetGroup.CRYPTO: (
        AssetClass.MAJOR_CRYPTO,
        AssetClass.LAYER_1,
        AssetClass.LAYER_2,
        AssetClass.DEFI_BLUE_CHIP,
        AssetClass.CRYPTO_ALT,
        AssetClass.MEME_COIN,
        AssetClass.STABLECOIN,
    ),
    AssetGroup.STOCK: (AssetClass.STOCK, AssetClass.ETF),
    AssetGroup.INDEX: (AssetClass.INDEX,),
    AssetGroup.COMMODITY: (AssetClass.COMMODITY,),
    AssetGroup.FOREX: (AssetClass.FOREX,),
}
GROUP_OF = {each: group for group, classes in GROUPS.items() for each in classes}

ASSETS: dict[AssetClass, dict[str, tuple[str, ...]]] = {
    AssetClass.MAJOR_CRYPTO: {
        "BTC": ("bitcoin", "xbt", "wbtc", "比特币", "大饼"),
        "ETH": ("ethereum", "ether", "weth", "以太坊", "以太币"),
    },
    AssetClass.LAYER_1: {
        "SOL": ("solana", "索拉纳"),
        "BNB": ("币安币",),
        "XRP": ("ripple", "瑞波币"),
        "ADA": ("cardano", "艾达币"),
        "TRX": ("tron", "波场币"),
        "AVAX": ("avalanche",),
        "DOT": ("polkadot", "波卡"),
        "LTC": ("litecoin", "莱特币"),
        "BCH": ("比特现金",),
        "ETC": (),
        "XLM": (),
        "XMR": ("monero", "门罗币"),
        "ZEC": ("zcash", "大零币"),
        "ATOM": (),
        "NEAR": (),
        "APT": (),
        "SUI": (),
        "TON": ("toncoin",),
        "HYPE": ("hyperliquid",),
        "TIA": ("celestia",),
        "INJ": ("injective",),
        "SEI": (),
        "ALGO": ("algorand",),
        "HBAR": ("hedera",),
        "ICP": (),
        "KAS": ("kaspa",),
        "VET": ("vechain", "唯链"),
        "EOS": ("柚子币",),
        "XTZ": ("tezos",),
        "NEO": ("小蚁币",),
        "FTM": ("fantom",),
        "BERA": (),
    },
    AssetClass.LAYER_2: {
        "ARB": (),
        "OP": (),
        "POL": ("matic",),
        "STRK": (),
        "MNT": (),
        "IMX": ("immutablex",),
        "STX": (),
        "METIS": (),
    },
    AssetClass.DEFI_BLUE_CHIP: {
        "LINK": ("chainlink",),
        "UNI": ("uniswap",),
        "AAVE": (),
        "MKR": ("makerdao",),
        "CRV": (),
        "LDO": (),
        "SNX": (),
        "COMP": (),
        "SUSHI": ("sushiswap",),
        "YFI": (),
        "CAKE": ("pancakeswap",),
        "GMX": (),
        "DYDX": (),
        "JUP": (),
        "PENDLE": (),
        "ENA": ("ethena",),
        "RUNE": ("thorchain",),
        "ONDO": (),
    },
    AssetClass.CRYPTO_ALT: {
        "FIL": ("filecoin",),
        "GRT": (),
        "RENDER": ("rndr",),
        "FET": (),
        "TAO": ("bittensor",),
        "WLD": ("worldcoin", "世界币"),
        "AXS": (),
        "SAND": (),
        "MANA": ("decentraland",),
        "GALA": (),
        "APE": ("apecoin",),
        "ENS": (),
        "PYTH": (),
        "JTO": (),
        "EIGEN": ("eigenlayer",),
        "CHZ": (),
        "QNT": (),
        "OKB": (),
        "CRO": (),
    },
    AssetClass.MEME_COIN: {
        "DOGE": ("dogecoin", "狗狗币"),
        "SHIB": ("柴犬币",),
        "PEPE": (),
        "WIF": ("dogwifhat",),
        "BONK": (),
        "FLOKI": (),
        "BOME": (),
        "POPCAT": (),
        "BRETT": (),
        "PENGU": (),
        "FARTCOIN": (),
        "TRUMP": (),
    },
    AssetClass.STABLECOIN: {
        "USDT": ("tether", "泰达币"),
        "USDC": (),
        "DAI": (),
        "FDUSD": (),
        "TUSD": ("trueusd",),
        "BUSD": (),
        "PYUSD": (),
        "USDE": (),
        "USDS": (),
    },
    AssetClass.STOCK: {
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
        "AVGO": ("broadcom", "博通"),
        "ORCL": ("甲骨文",),
        "CRM": ("salesforce",),
        "ADBE": ("adobe",),
        "IBM": (),
        "QCOM": ("qualcomm",),
        "MU": ("micron", "美光"),
        "SMCI": ("supermicro",),
        "TSM": ("tsmc", "台积电"),
        "ASML": ("阿斯麦",),
        "COIN": ("coinbase",),
        "MSTR": ("microstrategy",),
        "MARA": (),
        "CRCL": (),
        "HOOD": ("robinhood",),
        "PLTR": ("palantir",),
        "PYPL": ("paypal",),
        "UBER": (),
        "SHOP": ("shopify",),
        "JPM": ("jpmorgan", "摩根大通"),
        "BAC": (),
        "GS": ("高盛",),
        "BRK": ("berkshire", "伯克希尔"),
        "UNH": (),
        "LLY": ("礼来",),
        "PFE": ("pfizer", "辉瑞"),
        "XOM": ("exxon", "埃克森美孚"),
        "CVX": ("chevron", "雪佛龙"),
        "WMT": ("walmart", "沃尔玛"),
        "NKE": ("nike", "耐克"),
        "DIS": ("disney", "迪士尼"),
        "BA": ("boeing", "波音"),
        "GME": ("gamestop",),
        "AMC": (),
        "BABA": ("alibaba", "阿里巴巴"),
        "TCEHY": ("tencent", "腾讯"),
        "PDD": ("pinduoduo", "拼多多"),
        "JD": ("京东",),
        "BIDU": ("baidu", "百度"),
        "NIO": ("蔚来",),
        "XPEV": ("小鹏",),
        "BYDDY": ("byd", "比亚迪"),
    },
    AssetClass.ETF: {
        "SPY": (),
        "VOO": (),
        "VTI": (),
        "IVV": (),
        "QQQ": (),
        "TQQQ": (),
        "SQQQ": (),
        "IWM": (),
        "DIA": (),
        "EEM": (),
        "FXI": (),
        "KWEB": ("中概互联",),
        "ARKK": (),
        "SMH": (),
        "SOXX": (),
        "XLE": (),
        "XLF": (),
        "XLK": (),
        "TLT": (),
        "HYG": (),
        "GLD": (),
        "SLV": (),
        "USO": (),
        "IBIT": (),
        "FBTC": (),
        "GBTC": (),
        "ETHA": (),
        "BITO": (),
    },
    AssetClass.INDEX: {
        "SPX": ("gspc", "us500", "s&p 500", "s&p500", "标普500", "标普"),
        "NDX": ("nasdaq", "us100", "nas100", "纳斯达克", "纳指"),
        "DJI": ("djia", "us30", "dow jones", "道琼斯", "道指"),
        "RUT": ("russell 2000", "罗素2000"),
        "VIX": ("恐慌指数",),
        "DXY": ("美元指数",),
        "FTSE": ("uk100", "富时100"),
        "DAX": ("ger40",),
        "NKY": ("nikkei", "日经指数", "日经225"),
        "HSI": ("hang seng", "恒生指数", "恒指"),
        "CSI300": ("沪深300",),
        "SHCOMP": ("上证指数", "上证综指", "沪指"),
        "KOSPI": (),
        "SENSEX": (),
    },
    AssetClass.COMMODITY: {
        "XAU": ("gold", "黄金"),
        "XAG": ("silver", "白银"),
        "XPT": ("platinum", "铂金"),
        "XPD": ("palladium", "钯金"),
        "WTI": ("usoil", "crude oil", "原油"),
        "BRENT": ("ukoil", "布伦特"),
        "NATGAS": ("natural gas", "天然气"),
        "COPPER": ("铜价", "沪铜"),
        "WHEAT": ("小麦",),
        "CORN": ("玉米",),
        "SOYBEAN": ("大豆",),
        "COFFEE": (),
        "COCOA": (),
        "SUGAR": (),
        "COTTON": ("棉花",),
    },
}
"""A symbol and the other names of its asset, by class. Forex pairs are not listed: they are any two of `FIAT`."""

FIAT = frozenset("USD EUR GBP JPY CHF AUD NZD CAD CNY CNH HKD SGD KRW INR MXN SEK NOK TRY ZAR BRL".split())  # noqa: SIM905
QUOTES = FIAT | ASSETS[AssetClass.STABLECOIN].keys() | {"PERP"}
"""What stands second in a pair. Two fiat currencies are one asset; otherwise the first half is meant."""

TICKERS = {symbol: names for table in ASSETS.values() for symbol, names in table.items()}
CLASS_OF = {symbol: asset_class for asset_class, table in ASSETS.items() for symbol in table}
CLASSES = CLASS_OF | {base + quote: AssetClass.FOREX for base, quote in permutations(FIAT, 2)}
"""The class of every symbol that has one, forex pairs among them: some hundred."""


def names_of(table: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Return every name of a table, folded, with its key."""
    return {name.casefold(): key for key, names in table.items() for name in (key, *names)}


TICKER_OF = names_of(TICKERS)

_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
_WRITTEN = re.compile(r"\$?([A-Z][A-Z0-9.]{0,15})(?:[/:_-]([A-Z]{3,5})(?:[/:_-](?:SWAP|PERP))?)?")


def narrowed(text: str) -> str:
    """Return the text with full-width letters, digits and marks as the usual ones, of the same length."""
    return text if text.isascii() else text.translate(_NARROW)


def classify(symbol: str) -> AssetClass | None:
    """Return the class of a canonical symbol (see `normalise_asset`); None for what is unclassified."""
    return CLASSES.get(symbol)


def group_of(symbol: str) -> AssetGroup | None:
    """Return the group of a canonical symbol, of a price such as `ETH/BTC` that of its asset; None if unclassified."""
    asset_class = classify(symbol) or classify(symbol.partition("/")[0])
    return asset_class.group if asset_class else None


def is_forex_pair(symbol: str) -> bool:
    """Say whether a symbol is two different currencies, as in EURUSD."""
    base, quote = symbol[:3], symbol[3:]
    return base in FIAT and quote in FIAT and base != quote


def normalise_asset(text: str) -> str | None:
    """Return the canonical symbol of what a person or agent wrote for one asset.

    btc, $BTC, BTC-USDT, btcusd, Bitcoin and 比特币 are BTC; EUR/USD is EURUSD, gold XAU. A well-formed symbol that the
    table does not know stays as it is, in capitals. None for what names no one asset: a lone currency, BTC/ETH, text.
    """
    wanted = narrowed(text).strip()
    named = TICKER_OF.get(wanted.removeprefix("$").casefold())
    match = None if named else _WRITTEN.fullmatch(wanted.upper())
    if match is None:
        return named
    first, second = match.groups()
    if second:
        return pair_symbol(first, second)
    return TICKER_OF.get(first.casefold()) or compact_pair(first) or (None if first in FIAT else first)


def pair_symbol(base: str, quote: str) -> str | None:
    """Return what a pair in capitals means: EUR, USD is EURUSD; BTC, USDT is BTC; None when it is no pair."""
    if quote not in QUOTES:
        return None
    if base in FIAT:
        return base + quote if is_forex_pair(base + quote) else None
    return TICKER_OF.get(base.casefold(), base)


def compact_pair(word: str) -> str | None:
    """Return what a pair in capitals without a separator means: EURUSD is itself, BTCUSDT is BTC."""
    halves = ((word[:-size], word[-size:]) for size in (3, 4, 5))
    pairs = (pair_symbol(base, quote) for base, quote in halves if base in FIAT or base in TICKERS)
    return next((symbol for symbol in pairs if symbol), None)
