"""Addresses of wallets, against published vectors."""

import hashlib

from profile_app.portrait.core.wallets import (
    AddressProblem,
    Wallet,
    check_address,
    dump_wallets,
    keccak_256,
    parse_wallets,
)
from tests.kit.tables import table

EIP_55 = (
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0xde709f2102306220921060314715629080e2fb77",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
)
SOLANA = "7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRvDpvcMwJeK"


@table(
    "message, digest",
    [
        (b"", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"),
        (b"abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"),
    ],
)
def test_hashes_as_ethereum_does(message, digest):
    assert keccak_256(message).hex() == digest


@table("length", [0, 1, 134, 135, 136, 137, 271, 272, 1000])
def test_absorbs_any_length_as_the_standard_library_does(length):
    message = bytes(place % 251 for place in range(length))
    assert keccak_256(message, padding=6) == hashlib.sha3_256(message).digest()


@table("address", [*EIP_55, SOLANA, "1" * 32, "So11111111111111111111111111111111111111112"])
def test_keeps_a_right_address(address):
    assert check_address(address) == address


@table("address", EIP_55)
def test_gives_an_address_in_one_letter_case_its_checksum(address):
    assert check_address(address.lower()) == address
    assert check_address("0x" + address[2:].upper()) == address


@table(
    "text, problem",
    [
        ("0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed", AddressProblem.CHECKSUM),
        ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe", AddressProblem.UNKNOWN),
        ("0X5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED", AddressProblem.UNKNOWN),
        ("5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", AddressProblem.UNKNOWN),
        ("0x5аAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", AddressProblem.UNKNOWN),
        (SOLANA[:-2], AddressProblem.UNKNOWN),
        (SOLANA.replace("7", "0"), AddressProblem.UNKNOWN),
        ("z" * 44, AddressProblem.UNKNOWN),
        ("1" * 33, AddressProblem.UNKNOWN),
        (f"{SOLANA}\n", AddressProblem.UNKNOWN),
        ("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", AddressProblem.UNKNOWN),
        ("", AddressProblem.UNKNOWN),
    ],
)
def test_says_what_is_wrong_with_others(text, problem):
    assert check_address(text) is problem


def test_stores_wallets_in_their_order_as_the_source_does():
    wallets = (Wallet(SOLANA), Wallet(EIP_55[2], "慢基金"))
    assert parse_wallets(dump_wallets(wallets)) == wallets
    assert parse_wallets('[{"address": "x"}]') == (Wallet("x"),)
