"""What a text mentions: assets, chains and addresses, in English and Chinese."""

from hypothesis import given, strategies as st

from minara_site.kernel.core.assets import TICKERS
from minara_site.kernel.core.tickers import WORDLIKE, Entity, EntityKind, extract_finance_entities
from tests.kit.tables import table

WALLET = "0x" + "aB" * 20


def tickers(*keys: str) -> tuple[Entity, ...]:
    return tuple(Entity(EntityKind.TICKER, key) for key in keys)


@table(
    ("text", "keys"),
    [
        ("btc slippage", ["BTC"]),
        ("Bitcoin and 比特币 and BTC", ["BTC"]),
        ("以太坊跌破 3000", ["ETH"]),
        ("EUR/USD before the ECB", ["EURUSD"]),
        ("EURUSD, eur-usd", ["EURUSD"]),
        ("BTC-USDT and eth/usd", ["BTC", "ETH"]),
        ("BTCUSDT ETHUSDC", ["BTC", "ETH"]),
        ("XAU/USD", ["XAU"]),
        ("WLD/USDT is new", ["WLD"]),
        ("BTC-ETH spread", ["BTC", "ETH"]),
        ("near the top", []),
        ("NEAR near the top", ["NEAR"]),
        ("$near at support", ["NEAR"]),
        ("the link broke, LINK did not", ["LINK"]),
        ("Apple beats, an apple a day", ["AAPL"]),
        ("$FOO to the moon", ["FOO"]),
        ("$USD 5 and $5", []),
        ("黄金分割位", []),
        ("黄金上涨", ["XAU"]),
        ("long-term view, risk/reward", []),
        ("use 0.5% slippage", []),
        ("S&P 500 and dow jones, crude oil", ["SPX", "DJI", "WTI"]),
        ("欧元兑美元、美元/日元", ["EURUSD", "USDJPY"]),
        ("美元兑美元", []),
        ("买入\uff22\uff34\uff23，\uff04\uff46\uff4f\uff4f 再等等", ["BTC", "FOO"]),
        ("欧元\uff0f美元", ["EURUSD"]),
        ("5 USDs, USDS", ["USDS"]),
        ("bought NASDAQ:AAPL, not the index", ["AAPL"]),
        ("7203.T and LSE:VOD, then BRK-B.", ["7203.T", "VOD.L", "BRK.B"]),
        ("^GSPC up, SOLUSDT.P down", ["SPX", "SOL"]),
        ("EURONEXT:AIR, PLAN-B and NOTES.MD, OPENAI.CO in 10.TO", []),
        ("Apple Inc. (NASDAQ: AAPL), TD Synnex (NYSE: SNX)", ["AAPL", "SNX.US"]),
        ("OTC:USDT premium, SET:STOP for BTC at SIX:30", ["USDT", "BTC"]),
        ("Sold ETH.US CPI is out, META-B notes", ["ETH", "META"]),
        ("note:TSLA, U.S. yields, BTC.D fell", ["TSLA", "BTC"]),
        ("", []),
    ],
)
def test_finds_tickers(text, keys):
    assert extract_finance_entities(text) == tickers(*keys)


@table(
    ("text", "chains"),
    [
        ("swaps on base only", ["base"]),
        ("base case stays", []),
        ("bridge to arbitrum", ["arbitrum"]),
        ("Solana network fees", ["solana"]),
        ("以太坊链上 gas 高", ["ethereum"]),
        ("on Polygon mainnet", ["polygon"]),
    ],
)
def test_finds_chains(text, chains):
    found = [entity.key for entity in extract_finance_entities(text) if entity.kind is EntityKind.CHAIN]
    assert found == chains


@table(
    ("text", "addresses"),
    [
        (f"send to {WALLET}.", [WALLET.lower()]),
        ("hash 0x" + "ab" * 32, []),
        ("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", ["bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"]),
        ("1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", ["1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"]),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF", []),
    ],
)
def test_finds_addresses(text, addresses):
    found = [entity.key for entity in extract_finance_entities(text) if entity.kind is EntityKind.ADDRESS]
    assert found == addresses


def test_orders_by_first_mention():
    assert extract_finance_entities("ETH then BTC then eth") == tickers("ETH", "BTC")


@table("symbol", sorted(TICKERS))
def test_knows_each_symbol_and_name(symbol):
    for name in (symbol, *TICKERS[symbol]):
        written = name if name == symbol else name.capitalize()
        assert Entity(EntityKind.TICKER, symbol) in extract_finance_entities(f"holds {written} now"), name


def test_lists_only_known_names_as_wordlike():
    names = {name.casefold() for symbol, others in TICKERS.items() for name in (symbol, *others)}
    assert names >= WORDLIKE


@given(st.text(max_size=200))
def test_reads_any_text_twice_alike(text):
    found = extract_finance_entities(text)
    assert found == extract_finance_entities(text)
    assert len(set(found)) == len(found)
