"""Which price a text means."""

from hypothesis import given, strategies as st

from minara_site.kernel.core.symbols import normalise_symbol
from tests.kit.tables import table


@table(
    ("text", "symbol"),
    [
        *((text, "BTC") for text in "BTC btc $BTC BTC/USD BTCUSDT BTC-USDT-PERP BTC/USDT:USDT BTC-PERP BTCPERP Bitcoin 比特币 WBTC/USDC ＢＴＣ".split()),
        *((text, "ETH/BTC") for text in "ETH/BTC ETHBTC eth-btc ETH_BTC WETH/BTC".split()),
        *((text, "EURUSD") for text in "EUR/USD EURUSD eur-usd EUR/USDT".split()),
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
        ("BRK.B", "BRK.B"),
        ("S&P 500", "SPX"),
        ("AAPL", "AAPL"),
    ],
)  # fmt: skip
def test_names_the_price(text, symbol):
    assert normalise_symbol(text) == symbol


@table("text", ["", " ", "USD", "eur", "BTC/BTC", "wbtc/btc", "EUR/BTC", "USD/USDT", "123", "BTC ETH", "<b>", "BTC/", "a" * 40, "BTC\n/USD", "'; --"])  # fmt: skip
def test_refuses_what_names_no_one_price(text):
    assert normalise_symbol(text) is None


@given(st.text(max_size=20) | st.from_regex(r"[A-Z0-9]{1,8}[/:_-]?[A-Z0-9]{0,6}", fullmatch=True))
def test_a_symbol_means_itself(text):
    symbol = normalise_symbol(text)
    assert symbol is None or (normalise_symbol(symbol) == symbol and len(symbol) <= 32)
