"""Which assets are known, in which class, and how they may be written."""

from itertools import permutations

from hypothesis import given, strategies as st

from minara_site.kernel.core.assets import (
    ASSETS,
    CLASS_OF,
    FIAT,
    GROUPS,
    TICKER_OF,
    TICKERS,
    AssetClass,
    AssetGroup,
    classify,
    is_forex_pair,
)
from minara_site.kernel.core.symbols import normalise_asset
from tests.kit.tables import table

CRYPTO = ("major_crypto", "layer_1", "layer_2", "defi_blue_chip", "crypto_alt", "meme_coin", "stablecoin")
OTHERS = {"stock": "stock", "etf": "stock", "index": "index", "commodity": "commodity", "forex": "forex"}


def test_has_the_groups_and_classes_of_the_standard():
    assert [group.value for group in AssetGroup] == ["crypto", "stock", "index", "commodity", "forex"]
    assert {each.value: each.group.value for each in AssetClass} == dict.fromkeys(CRYPTO, "crypto") | OTHERS
    assert list(GROUPS) == list(AssetGroup)


def test_lists_each_symbol_and_each_name_once():
    assert sum(map(len, ASSETS.values())) == len(TICKERS) == len(CLASS_OF)
    names = [name.casefold() for symbol, others in TICKERS.items() for name in (symbol, *others)]
    assert len(set(names)) == len(names)
    assert not FIAT & TICKERS.keys()


@table("asset_class", [each for each in AssetClass if each is not AssetClass.FOREX])
def test_classifies_each_symbol_of_a_class(asset_class):
    assert len(ASSETS[asset_class]) > 1
    for symbol in ASSETS[asset_class]:
        assert classify(symbol) is asset_class
        assert symbol == symbol.upper()


def test_takes_any_two_currencies_for_forex():
    for base, quote in permutations(sorted(FIAT), 2):
        assert classify(base + quote) is AssetClass.FOREX
        assert normalise_asset(f"{base}/{quote}") == normalise_asset(f"{base}{quote}".lower()) == base + quote


@table("symbol", ["", "FOO", "btc", "BTC/USD", "EUR", "USDUSD", "EURUSDX", "WLDX", "比特币"])
def test_leaves_the_rest_unclassified(symbol):
    assert classify(symbol) is None
    assert not is_forex_pair(symbol)


@table("symbol", sorted(TICKERS))
def test_normalises_each_symbol_name_and_pair(symbol):
    for name in (symbol, *TICKERS[symbol]):
        assert normalise_asset(name) == normalise_asset(f" {name.upper()} ") == symbol
    for written in (f"${symbol}", f"{symbol}/USD", f"{symbol}-USDT", f"{symbol.lower()}usdt", f"{symbol}_PERP"):
        assert normalise_asset(written) == symbol, written


@table(
    ("text", "symbol"),
    [
        ("btc", "BTC"),
        ("BTC-USDT", "BTC"),
        ("BTC/USD", "BTC"),
        ("btc:usdt", "BTC"),
        ("BTC-USDT-SWAP", "BTC"),
        ("bitcoin/usdt", "BTC"),
        ("$btc", "BTC"),
        ("比特币", "BTC"),
        ("\uff42\uff54\uff43\uff0f\uff35\uff33\uff24\uff34", "BTC"),
        ("EUR/USD", "EURUSD"),
        ("eurusd", "EURUSD"),
        ("gold", "XAU"),
        ("XAU/USD", "XAU"),
        ("S&P 500", "SPX"),
        ("BRK.B", "BRK.B"),
        ("foo", "FOO"),
        ("$foo", "FOO"),
        ("FOO/USDT", "FOO"),
        ("USDT/USD", "USDT"),
        ("EUR", None),
        ("$usd", None),
        ("EUR/EUR", None),
        ("EUR/USDT", "EURUSD"),
        ("BTC/ETH", None),
        ("what is btc", None),
        ("狗", None),
        ("", None),
        ("A" * 17, None),
        ("0x" + "ab" * 20, None),
        ("../etc", None),
    ],
)
def test_normalises_as_written(text, symbol):
    assert normalise_asset(text) == symbol


@given(st.text(max_size=40) | st.sampled_from(sorted(TICKER_OF)))
def test_normalises_once_and_for_all(text):
    symbol = normalise_asset(text)
    assert symbol is None or normalise_asset(symbol) == symbol
