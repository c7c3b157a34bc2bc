"""Addresses inside a text: found by shape, told apart from words and numbers, never twice the same under two keys."""

from hypothesis import given, strategies as st

from memory_app.memories.core.destinations import MAX_FOUND, DestinationKind, find_destinations
from tests.kit.tables import table

EVM = "0x" + "52908400098527886E0F7030069857D2E4169EE7"
SOLANA = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
TRON = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"
BITCOIN = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
BECH32 = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"


@table("address", [EVM, SOLANA, TRON, BITCOIN, BECH32, "vitalik.eth"])
@table("around", ["Send it to {}.", "提现到{}。", "({})", "to:{},now", "{}"])
def test_a_wallet_address_is_found_where_it_stands(address, around):
    text = around.format(address)
    [found] = find_destinations(text)
    assert (found.kind, found.text) == (DestinationKind.WALLET, address)
    assert text[found.start : found.end] == address


@table(
    "address",
    [
        "https://evil.example/claim?x=1#y",
        "http://10.0.0.1:8080/",
        "ftp://files.example/a",
        "www.evil.example",
        "t.me/airdrop_bot",
        "javascript://x/%0aalert(1",
    ],
)
@table("around", ["Claim at {}.", "访问{}。", "({})", "[here]({})", "{}"])
def test_a_web_address_is_found_without_what_closes_the_sentence(address, around):
    text = around.format(address)
    [found] = find_destinations(text)
    assert (found.kind, found.text) == (DestinationKind.WEB, address)
    assert text[found.start : found.end] == address


@table(
    "text",
    [
        "Trail BTC stops by 8%, BTC/USD and EUR/USD above 1.0850",
        "Slippage on base was 0.5%/trade, e.g. and/or",
        "transaction 0x" + "ab" * 32,
        "internationalization",
        "11111111111111111111111111111111",
        "Max leverage 20x on majors; ETH.D dominance 18.2",
        "commit da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "",
    ],
)
def test_words_numbers_pairs_and_hashes_are_no_addresses(text):
    assert find_destinations(text) == []


@table(
    ("one", "other"),
    [
        (EVM, EVM.lower()),
        ("https://Evil.Example/Path", "HTTPS://evil.example/Path"),
        ("www.Evil.example", "www.evil.example"),
    ],
)
def test_two_spellings_of_one_address_share_a_key(one, other):
    assert find_destinations(one)[0].key == find_destinations(other)[0].key


@table(
    ("one", "other"),
    [(SOLANA, SOLANA.swapcase()), ("https://evil.example/Path", "https://evil.example/path"), (EVM, EVM[:-1] + "8")],
)
def test_two_addresses_keep_two_keys(one, other):
    first, second = find_destinations(one), find_destinations(other)
    assert not second or first[0].key != second[0].key


def test_a_text_of_many_addresses_gives_the_first_of_them():
    assert len(find_destinations(f"{EVM} " * 100)) == MAX_FOUND


@given(st.text(alphabet="0xaA1bcT.:/ -w@\u200b中", max_size=300))
def test_spans_are_exact_ordered_and_apart(text):
    done = 0
    for found in find_destinations(text):
        assert done <= found.start < found.end
        assert text[found.start : found.end] == found.text
        done = found.end
