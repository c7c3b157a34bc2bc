"""Which price a text means: the spellings of exchanges, brokers and chart sites, and what names no price."""

import tomllib
from pathlib import Path

from hypothesis import given, strategies as st

from minara_site.kernel.core.assets import AssetClass
from minara_site.kernel.core.symbols import (
    How,
    SymbolKind,
    class_of,
    how_read,
    kind_of,
    normalise_asset,
    normalise_symbol,
)
from minara_site.kernel.core.venues import AFTER, BEFORE, EXCHANGES, SUFFIXES
from tests.kit.tables import table

SPELLINGS = tomllib.loads(Path(__file__).with_name("spellings.toml").read_text("utf-8"))
WORDS = (*BEFORE, *AFTER, *SUFFIXES, "BTC", "USDT", "EUR", "kPEPE", "7203", "FOO", "B", "27JUN25", "PERP", "Equity")
MARKS = ("", "/", ":", "-", "_", ".", " ", "=X", "=", "^", "@", "!", "$")


@table("source", sorted(SPELLINGS))
def test_reads_what_each_source_writes(source):
    read = {text: normalise_symbol(text) or "" for text in SPELLINGS[source]}
    assert read == SPELLINGS[source]


def test_the_table_of_spellings_is_large():
    assert sum(map(len, SPELLINGS.values())) > 600


@table(
    ("text", "symbol"),
    [
        *((text, "BTC") for text in "BTC btc $BTC BTC/USD BTCUSDT BTC-USDT-PERP BTC/USDT:USDT BTC-PERP BTCPERP Bitcoin 比特币 WBTC/USDC ＢＴＣ".split()),
        *((text, "ETH/BTC") for text in "ETH/BTC ETHBTC eth-btc ETH_BTC WETH/BTC".split()),
        *((text, "EURUSD") for text in "EUR/USD EURUSD eur-usd EUR/USDT ＥＵＲ／ＵＳＤ".split()),
        ("USD/JPY", "USDJPY"),
        ("BTC/EUR", "BTC/EUR"),
        ("BTCEUR", "BTC/EUR"),
        ("USDT/EUR", "USDT/EUR"),
        ("USDCUSDT", "USDC"),
        ("FOO/USDT", "FOO"),
        ("FOOUSDT", "FOO"),
        ("1INCH/USDT", "1INCH"),
        ("GBTC", "GBTC"),
        ("PYUSD", "PYUSD"),
        ("S&P 500", "SPX"),
        (" nasdaq:aapl ", "AAPL"),
        ("nasdaq", "NDX"),
        ("NASDAQ/AAPL", "AAPL"),
        ("NASDAQ: AAPL", "AAPL"),
        ("LSE/VOD", "VOD.L"),
        ("TSE:7203.T", "7203.T"),
        ("NASDAQ:AAPL.O", "AAPL"),
        ("LSE:SPX", "SPX.L"),
        ("SPX.L", "SPX.L"),
        ("vntl:KRAKEN", "VNTL:KRAKEN"),
        ("xyz:SE", "XYZ:SE"),
        ("INDEX/ETH", "INDEX/ETH"),
        ("WUSDT", "W"),
        ("BATUSD", "BATUSD"),
        ("KRAKEN:BATUSD", "BAT"),
        ("DOGETUSD", "DOGE"),
        ("GOLD.P", "GOLD.US"),
        ("HSI:IND", "HSI"),
        ("CBOE:US", "CBOE"),
        ("PINK/ETH", "PINK/ETH"),
        ("AAPL-NASDAQ", "AAPL"),
        ("AAPL@NASDAQ", "AAPL"),
        ("HYPERLIQUID:BTC", "BTC"),
        ("HYPERLIQUID/USDT", "HYPE"),
        ("FX/BTC", "FX/BTC"),
        ("SOL/JUP", "SOL/JUP"),
        ("FOO:USDT", "FOO:USDT"),
        ("xyz:EUR", "XYZ:EUR"),
        ("notes.md", "NOTES.MD"),
    ],
)  # fmt: skip
def test_names_the_price(text, symbol):
    assert normalise_symbol(text) == symbol


@table(
    "text",
    [
        *("", " ", "$", "USD", "eur", "BTC/BTC", "wbtc/btc", "EUR/BTC", "USD/USDT", "123", "7203", "00700", "LSE/FOO BAR"),
        *("BTC ETH", "go in", "what is btc", "buy a", "USD B", "LSE:VOD.T", "<b>", "BTC/", "-PERP", "BTC\n/USD", "'; --", "a/b/c", "https://a.b/c"),
        *("BTC?", "BTC#1", "BTC%20USD", "B\u200bTC", "BTC\u200b", "🚀", "贵州茅台", "TSE:RY", "EURONEXT:AIR", "AAPL@SMART"),
        *("no-ticker!", "a/b", "a" * 40, "BTC" + " " * 200 + "USD", "A:" * 100, "0x" + "ab" * 20),
    ],
)  # fmt: skip
def test_refuses_what_names_no_one_price(text):
    assert normalise_symbol(text) is None


@given(
    st.text(max_size=20)
    | st.from_regex(r"[A-Za-z0-9^.@$]{1,8}[/:_.=@ -]?[A-Za-z0-9]{0,8}[/:_.=@ -]?[A-Za-z0-9!]{0,6}", fullmatch=True)
    | st.lists(st.sampled_from((*WORDS, *MARKS)), max_size=6).map("".join)
)
def test_a_symbol_means_itself(text):
    symbol = normalise_symbol(text)
    assert symbol is None or (normalise_symbol(symbol) == symbol and len(symbol) <= 32)


@table(
    ("symbol", "kind", "asset_class"),
    [
        ("BTC", SymbolKind.ASSET, AssetClass.MAJOR_CRYPTO),
        ("EURUSD", SymbolKind.ASSET, AssetClass.FOREX),
        ("SPX", SymbolKind.ASSET, AssetClass.INDEX),
        ("FOOBAR", SymbolKind.ASSET, None),
        ("BRK.B", SymbolKind.ASSET, AssetClass.STOCK),
        ("7203.T", SymbolKind.ASSET, AssetClass.STOCK),
        ("SNX.US", SymbolKind.ASSET, AssetClass.STOCK),
        ("1INCH", SymbolKind.ASSET, None),
        ("KAS", SymbolKind.ASSET, AssetClass.LAYER_1),
        ("ETH/BTC", SymbolKind.PAIR, None),
        ("BTC/EUR", SymbolKind.PAIR, None),
        *(
            (symbol, SymbolKind.MARKET, None)
            for symbol in "KPEPE 1000PEPE SHIB1000 1MBABYDOGE XYZ:TSLA @107 ES=F ES1! ESZ5 BTCUSDH25 BTC-27JUN25 ETH.S"
            " BTC/USDT:USDT-250926 AAPL250117C00150000 BTC.D BTCUSDT240927 BTC27JUN25 ESZ2025 6EZ5 CLC1".split()
        ),
    ],
)
def test_says_what_a_symbol_stands_for(symbol, kind, asset_class):
    assert (normalise_symbol(symbol), kind_of(symbol), class_of(symbol)) == (symbol, kind, asset_class)


@table(
    ("text", "how"),
    [
        ("BTC", How.AS_SENT),
        ("btc", How.AS_SENT),
        ("比特币", How.NAME),
        ("NASDAQ:AAPL", How.VENUE),
        ("AAPL.O", How.VENUE),
        ("AAPL US Equity", How.VENUE),
        ("700:HK", How.VENUE),
        ("BTC-USDT-PERP", How.QUOTE),
        ("SOLUSDT.P", How.QUOTE),
        ("ETHBTC", How.SPELLING),
        ("EUR/USD", How.SPELLING),
        ("^GSPC", How.SPELLING),
        ("BRK-B", How.SPELLING),
        ("kPEPE", How.OWN_MARKET),
    ],
)
def test_says_how_a_text_was_read(text, how):
    assert how_read(text, normalise_symbol(text)) is how


@table(
    ("text", "asset"),
    [
        ("BTC/EUR", "BTC"),
        ("BTC/ETH", None),
        ("NASDAQ:AAPL", "AAPL"),
        ("kPEPE", "KPEPE"),
        ("7203.T", "7203.T"),
        ("EUR", None),
    ],
)
def test_a_text_is_about_the_asset_whose_price_it_is(text, asset):
    assert normalise_asset(text) == asset


def test_every_exchange_reads_its_own_form():
    codes = dict.fromkeys(EXCHANGES, "600519") | {"T": "7203", "HK": "0700", "US": "AAPL"}
    for suffix, code in codes.items():
        expected = {"US": "AAPL", "CN": "600519.SS"}.get(suffix, f"{code}.{suffix}")
        for before in EXCHANGES[suffix][0].split():
            assert normalise_symbol(f"{before}:{code}") == expected
        for after in EXCHANGES[suffix][1].split():
            assert normalise_symbol(f"{code} {after} Equity") == normalise_symbol(f"{code}:{after}") == expected
        for behind in (suffix, *EXCHANGES[suffix][2].split()):
            assert behind == "S" or normalise_symbol(f"{code}.{behind}") == expected
