"""Secrets leave tool arguments; public finance strings stay (core of trust R-30)."""

import base64
import hashlib
import json

from hypothesis import given, settings, strategies as st

from minara_site.kernel.core.bip39 import BIP39_ENGLISH
from minara_site.kernel.core.redact import MAX_DEPTH, REDACTED, redact, redact_text
from minara_site.kernel.core.secret_shapes import MIN_PHRASE_WORDS, NameKind, find_phrases, kind_of_name
from tests.kit.shared import corpus
from tests.kit.tables import table

HEX_KEY = "e9873d79c6d87dc0fb6a5778633389f4453213303da61f20bd67fc233aa33262"
PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow"

# Published examples and made-up keys of the right shape: none opens anything.
BY_SHAPE = {
    "service key": "sk-ant-api03-" + "Zx9" * 20,
    "short service key": "sk-abcdefghijklmnop1234",
    "payment key": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "own key": "mnr_live_ab12cd34_" + "Q7" * 21 + "x9f3a1",
    "code host": "ghp_" + "a1B2" * 9,
    "cloud id": "AKIAIOSFODNN7EXAMPLE",
    "maps": "AIza" + "Sy0" * 11 + "ab",
    "chat": "xoxb-2222222222-3333333333-abcdef",
    "bot": "123456789:AA" + "Hd" * 16 + "q",
    "bot, one short": "123456789:AA" + "Hd" * 16,
    "bot of another kind, one short": "123456789:Bx" + "Hd" * 16,
    "mail": "key-" + "0a1b2c3d" * 4,
    "platform": "HRKU-" + "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
    "machines": "fm2_" + "lJPECAAA" * 6 + "==",
    "bases": "pat" + "AbCdEfGh1234Ij" + "." + "0a1b2c3d" * 8,
    "inference": "fw_" + "3Zk9" * 6,
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "wallet import": "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ",
    "extended key": "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
    "phrase": PHRASE,
    "phrase of 24": " ".join(["abandon"] * 23 + ["art"]),
}
BY_NAME = {"password": "hunter2", "hex key": HEX_KEY, "aws secret": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
CLEAN = [
    "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
    "tx 0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
    "5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
    "block hash 000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f",
    "send to bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq or 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    "mint EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkwZyTDt1v",
    "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW",
    "always set slippage to 0.5% on Base; P/E < 12 & RSI > 70",
    "token=USDC token_in: WETH, from_token=0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    "risk-adjusted-return-2024-metrics for the trading desk-2026",
    "public key 02e9873d79c6d87dc0fb6a5778633389f4453213303da61f20bd67fc233aa33262",
    "https://api.example.com/v1/prices?symbol=BTC-USD&interval=5m&limit=500",
    "basic understanding of bearer bonds; the secretive fund has a password policy",
    "order 7f9c24e8-3b12-4e2a-9c1d-0a1b2c3d4e5f filled at 3,200.50, seed: 42, max_tokens=500",
    "0xa9059cbb0000000000000000000000005c504ed432cb51138bcf09aa5e8a410dd4a1e2040000000000000000000000000000000000000000",
]


def wrapped(secret):
    """The six shapes of R-30, for a secret that shows by itself."""
    nested = {"a": [{"b": {"c": [{"d": {"e": secret}}]}}]}
    return {
        "plain": f"use {secret} now",
        "nested": nested,
        "list": ["swap", secret, 5],
        "query": f"https://x.example/v1?symbol=ETH&k={secret.replace(' ', '%20')}&n=1",
        "header": {"headers": {"X-Custom": secret}},
        "base64": base64.b64encode(f"note: {secret}".encode()).decode(),
    }


def leaks(value, secret):
    """The forms in which a secret is still there."""
    text = json.dumps(value, ensure_ascii=False)
    forms = [
        secret,
        secret.replace(" ", "%20"),
        *[base64.b64encode(b" " * pad + secret.encode()).decode()[4:-4] for pad in range(3)],
    ]
    return [form for form in forms if form in text]


@table("name", BY_SHAPE)
@table("shape", ["plain", "nested", "list", "query", "header", "base64"])
def test_redacts_what_shows_by_its_shape(name, shape):
    secret = BY_SHAPE[name]
    value = wrapped(secret)[shape]
    assert leaks(value, secret)
    assert leaks(redact(value), secret) == []


@table("secret", BY_NAME.values(), ids=BY_NAME)
@table(
    "value",
    [
        lambda secret: {"password": secret},
        lambda secret: {"wallet": {"accounts": [{"keys": {"privateKey": {"hex": [secret]}}}]}},
        lambda secret: {
            "headers": {"Authorization": secret, "x-api-key": secret, "Cookie": f"sid={secret}; a={secret}"}
        },
        lambda secret: {"headers": [["X-Api-Key", secret], {"name": "Authorization", "value": secret}]},
        lambda secret: ["deploy", "--password", secret, f"--client-secret={secret}"],
        lambda secret: (
            f"curl -H 'Authorization: Token {secret}' https://user:{secret.replace('/', '')}@host/?api_key={secret}&a=1"
        ),
        lambda secret: f"deploy --password {secret} --dry-run",
        lambda secret: f"the private key: {secret}",
        lambda secret: f'{{"name": "x", "apiKey": "{secret}", "n": 1}}',
        lambda secret: json.dumps(json.dumps({"mnemonic": secret, "n": 1})),
        lambda secret: f"client_secret%3D{secret}%26n%3D1",
        lambda secret: f"AWS_SECRET_ACCESS_KEY={secret}\nREGION=eu",
        lambda secret: base64.b64encode(f'{{"password": "{secret}"}}'.encode()).decode(),
        lambda secret: base64.urlsafe_b64encode(base64.b64encode(f"passwd={secret}".encode())).decode(),
        lambda secret: {"auth": base64.b64encode(f"me:{secret}".encode()).decode()},
        lambda secret: "Authorization: Basic " + base64.b64encode(f"me:{secret}".encode()).decode(),
        lambda secret: {
            "curl": "GET /x\nProxy-Authorization: Basic " + base64.b64encode(f"me:{secret}".encode()).decode()
        },
    ],
)
def test_redacts_what_stands_beside_a_secrets_name(value, secret):
    value = value(secret)
    assert leaks(redact(value), secret) == []


def test_keeps_everything_else_of_a_call():
    kept = {"symbol": "ETH", "size_usd": 310.5, "live": True, "note": None, "token": "USDC", "seed": 42}
    auth = {"user": "mei", "password": 1234, "remember": True, "otp": None}
    args = kept | {"auth": auth, "path": f"/v1?symbol=ETH&api_key={HEX_KEY}&n=1"}
    assert redact(args) == args | {
        "auth": {"user": REDACTED, "password": REDACTED, "remember": True, "otp": None},
        "path": f"/v1?symbol=ETH&api_key={REDACTED}&n=1",
    }


@table("text", CLEAN)
def test_leaves_public_finance_strings(text):
    assert redact(text) == text
    assert redact({"value": [text]}) == {"value": [text]}


def test_leaves_the_finance_memories_of_the_corpus():
    rows = [row["text"] for row in corpus("benign_finance_memories")]
    assert [redact_text(text) for text in rows] == rows


def test_tells_a_private_key_from_a_hash_by_the_words_before_it():
    assert redact_text(f"my private key is 0x{HEX_KEY}") == f"my private key is {REDACTED}"
    assert redact_text(f"key {HEX_KEY}, tx hash {HEX_KEY}") == f"key {REDACTED}, tx hash {HEX_KEY}"
    assert redact({"key": HEX_KEY, "tx_hash": HEX_KEY}) == {"key": REDACTED, "tx_hash": HEX_KEY}


def test_finds_a_phrase_however_it_is_laid_out():
    words = PHRASE.split()
    numbered = "\n".join(f"{number}. {word}" for number, word in enumerate(words, 1))
    assert redact_text(f"Here:\n{numbered}\nDone.") == f"Here:\n1. {REDACTED}\nDone."
    assert redact_text(", ".join(words).upper()) == REDACTED
    assert redact({"words": words}) == {"words": [REDACTED] * len(words)}
    assert find_phrases(" ".join(words[: MIN_PHRASE_WORDS - 1])) == []


def test_knows_every_word_of_bip_39_in_order():
    assert len(BIP39_ENGLISH) == len(set(BIP39_ENGLISH)) == 2048
    digest = hashlib.sha256("".join(f"{word}\n" for word in BIP39_ENGLISH).encode()).hexdigest()
    assert digest == "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda"


@table("secret", ["SK" + "0123456789abcdef" * 2, "https://hooks.slack.com/services/" + "T0AB12/B0CD34/e5f6"])
def test_redacts_what_the_guard_would_hold(secret):
    assert leaks(redact({"note": f"his key {secret} works"}), secret) == []
    assert redact_text("密码是密码是Tr0ub4dor&3 and the password is Tr0ub4dor&3") == (
        f"密码是{REDACTED} and the password is {REDACTED}"
    )


def test_redacts_a_key_wherever_it_stands():
    key = "SK" + "0123456789abcdef" * 2
    assert redact_text(f"first {key}, then {key}") == f"first {REDACTED}, then {REDACTED}"
    key = "AKC" + "a1B2c3D4e5" * 6
    for before in range(3_940, 4_001, 20):  # where one piece of a long line ends
        assert redact_text("y " * (before // 2) + key).lstrip("y ") == REDACTED


def test_redacts_a_pem_key_and_nothing_after_it():
    pem = f"-----BEGIN EC PRIVATE KEY-----\n{'MHcCAQEE' * 8}\n-----END EC PRIVATE KEY-----"
    assert redact_text(f"before {pem} after") == f"before {REDACTED} after"
    assert redact_text(pem[:60]) == REDACTED


@table(
    ("name", "kind"),
    [
        ("apiKey", NameKind.SECRET),
        ("X-API-KEY", NameKind.SECRET),
        ("PRIVATEKEY", NameKind.SECRET),
        ("refresh_token", NameKind.SECRET),
        ("seed_phrase", NameKind.SECRET),
        ("authorization", NameKind.SECRET),
        ("token", NameKind.TOKEN),
        ("X-Token", NameKind.TOKEN),
        ("from_token", NameKind.PLAIN),
        ("tokenOut", NameKind.PLAIN),
        ("wallet_seed", NameKind.SEED),
        ("author", NameKind.PLAIN),
        ("token_in", NameKind.PLAIN),
        ("max_tokens", NameKind.PLAIN),
        ("public_key", NameKind.PLAIN),
        ("seeds_planted", NameKind.PLAIN),
        ("", NameKind.PLAIN),
    ],
)
def test_reads_names_in_any_case(name, kind):
    assert kind_of_name(name) is kind


def test_a_token_is_an_asset_unless_it_cannot_be_one():
    assert redact({"token": "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"})["token"] != REDACTED
    assert redact({"token": "3f786850e387550fdab836ed7e6dc881de23001b"})["token"] == REDACTED


def nested(depth, leaf):
    value = leaf
    for _ in range(depth):
        value = {"a": value}
    return value


def test_redacts_at_any_depth():
    secret = BY_SHAPE["code host"]
    assert leaks(redact(nested(64, secret)), secret) == []
    assert leaks(redact(nested(900, [secret])), secret) == []
    assert leaks(redact({"password": nested(900, "hunter2")}), "hunter2") == []
    assert redact(nested(MAX_DEPTH, "kept")) == nested(MAX_DEPTH, "kept")


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
texts = scalars | st.sampled_from([*BY_SHAPE.values(), *CLEAN, "password=x y", '"token": "abc', "api_key='q\\'z' r"])
values = st.recursive(
    texts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "password", "token", "name", "value", "seed"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=200)
@given(values)
def test_twice_is_once_and_no_secret_is_left(value):
    once = redact(value)
    assert redact(once) == once
    assert [secret for secret in BY_SHAPE.values() if secret in json.dumps(once)] == []
    json.dumps(once)
