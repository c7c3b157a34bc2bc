"""Reference wallets: which addresses exist. Sources: EIP-55 (checksum), Keccak (the padding before FIPS 202). Pure."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

MAX_WALLETS, MAX_LABEL_CHARS = 10, 60
EVM = re.compile(r"0x[0-9a-fA-F]{40}")
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
SOLANA = re.compile(rf"[{BASE58}]{{32,44}}")
SOLANA_BYTES = 32
RATE = 136  # bytes of Keccak-256 that a block fills
LANE = (1 << 64) - 1


class AddressProblem(Enum):
    """What is wrong with an address."""

    UNKNOWN = "unknown"
    CHECKSUM = "checksum"


@dataclass(frozen=True, slots=True)
class Wallet:
    """A wallet that a user follows; the label may be empty."""

    address: str
    label: str = ""


def check_address(text: str) -> str | AddressProblem:
    """Return an address as it is stored, or what is wrong with it.

    EVM addresses are stored with their checksum: one in mixed case must have it. A Solana address is 32 bytes.
    """
    if EVM.fullmatch(text):
        checked = add_checksum(text)
        is_plain = text[2:] in {text[2:].lower(), text[2:].upper()}
        return checked if is_plain or text == checked else AddressProblem.CHECKSUM
    if SOLANA.fullmatch(text) and count_base58_bytes(text) == SOLANA_BYTES:
        return text
    return AddressProblem.UNKNOWN


def add_checksum(address: str) -> str:
    """Return an EVM address in the letter case that EIP-55 gives it."""
    digits = address[2:].lower()
    marks = keccak_256(digits.encode()).hex()
    return "0x" + "".join(digit.upper() if mark >= "8" else digit for digit, mark in zip(digits, marks, strict=False))


def count_base58_bytes(text: str) -> int:
    """Return how many bytes a base58 text stands for; each leading 1 is a byte of zero."""
    number = 0
    for digit in text:
        number = number * 58 + BASE58.index(digit)
    return (number.bit_length() + 7) // 8 + len(text) - len(text.lstrip("1"))


def keccak_256(message: bytes, *, padding: int = 1) -> bytes:
    """Return the Keccak-256 hash that Ethereum uses. With `padding` 6 it is SHA3-256, the only one in `hashlib`."""
    padded = bytearray((*message, padding, *bytes(-(len(message) + 1) % RATE)))
    padded[-1] |= 0x80
    lanes = [[0] * 5 for _row in range(5)]
    for start in range(0, len(padded), RATE):
        for place in range(RATE // 8):
            lane = padded[start + 8 * place : start + 8 * place + 8]
            lanes[place % 5][place // 5] ^= int.from_bytes(lane, "little")
        _permute(lanes)
    return b"".join(lanes[place][0].to_bytes(8, "little") for place in range(4))


def _permute(lanes: list[list[int]]) -> None:
    """Run the 24 rounds of Keccak-f[1600] on `lanes[x][y]`."""
    register = 1
    for _round in range(24):
        parity = [column[0] ^ column[1] ^ column[2] ^ column[3] ^ column[4] for column in lanes]
        for x in range(5):
            effect = parity[(x + 4) % 5] ^ _rotate(parity[(x + 1) % 5], 1)
            lanes[x] = [lane ^ effect for lane in lanes[x]]
        x, y, moved = 1, 0, lanes[1][0]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            moved, lanes[x][y] = lanes[x][y], _rotate(moved, (step + 1) * (step + 2) // 2 % 64)
        for y in range(5):
            row = [lanes[x][y] for x in range(5)]
            for x in range(5):
                lanes[x][y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5] & LANE)
        for bit in range(7):
            register = ((register << 1) ^ ((register >> 7) * 0x71)) % 256
            if register & 2:
                lanes[0][0] ^= 1 << ((1 << bit) - 1)


def _rotate(lane: int, bits: int) -> int:
    return ((lane << bits) | (lane >> (64 - bits))) & LANE


def dump_wallets(wallets: Iterable[Wallet]) -> str:
    """Return wallets as their column holds them, in their order."""
    return json.dumps(
        [{"address": each.address, "label": each.label} for each in wallets],
        ensure_ascii=False,
    )


def parse_wallets(stored: str) -> tuple[Wallet, ...]:
    """Return the wallets that a column holds."""
    return tuple(Wallet(each["address"], each.get("label", "")) for each in json.loads(stored))
