"""The text of a key: `mnr_<environment>_<8-character id>_<43-character secret><6-character checksum>`.

Secret and checksum are base62: 43 characters carry 256 bits, the checksum is the CRC32 of everything before it,
so that a scanner tells a leaked key from noise without asking us. The id is public and names the key in lists and logs.
"""

import hashlib
import ipaddress
import re
import secrets
import string
import zlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hmac import compare_digest

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
ID_ALPHABET = string.digits + string.ascii_lowercase
ID_LENGTH, SECRET_LENGTH, CHECKSUM_LENGTH = 8, 43, 6
KEY = re.compile(r"(mnr_[a-z]{2,8}_([0-9a-z]{8})_[0-9A-Za-z]{43})([0-9A-Za-z]{6})", re.ASCII)

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class KeyState(StrEnum):
    """Whether a key opens anything."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key at the one moment when its text is known."""

    prefix: str
    text: str

    def __repr__(self) -> str:
        """Show the public id only."""
        return f"NewKey({self.prefix})"


def generate_key(environment: str) -> NewKey:
    """Return a fresh random key."""
    prefix = "".join(secrets.choice(ID_ALPHABET) for _ in range(ID_LENGTH))
    secret = "".join(secrets.choice(BASE62) for _ in range(SECRET_LENGTH))
    body = f"mnr_{environment}_{prefix}_{secret}"
    return NewKey(prefix, body + checksum(body))


def checksum(body: str) -> str:
    """Return the CRC32 of the text in base62, padded with zeros."""
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return digits


def parse_key(text: str) -> str | None:
    """Return the public id of a well-formed key, None for anything else."""
    match = KEY.fullmatch(text)
    if match is None or checksum(match[1]) != match[3]:
        return None
    return match[2]


def hash_key(text: str) -> str:
    """Return what is stored. A plain SHA-256 is enough: 256 random bits cannot be guessed."""
    return hashlib.sha256(text.encode()).hexdigest()


def is_same_key(text: str, stored_sha256: str) -> bool:
    """Compare in constant time."""
    return compare_digest(hash_key(text), stored_sha256)


def decide_state(
    *,
    expires_at: datetime | None,
    revoked_at: datetime | None,
    now: datetime,
) -> KeyState:
    """Return the state of a key; one that is revoked stays so after its expiry."""
    if revoked_at is not None:
        return KeyState.REVOKED
    return KeyState.EXPIRED if expires_at is not None and expires_at <= now else KeyState.ACTIVE


def parse_networks(text: str) -> tuple[Network, ...]:
    """Read addresses and networks, separated by commas or spaces. Raises ValueError with the wrong part."""
    return tuple(ipaddress.ip_network(part, strict=False) for part in re.split(r"[,\s]+", text.strip()) if part)


def is_inside(address: str, networks: list[str]) -> bool:
    """Say whether the address is in one of the networks; no networks means everywhere, no address means nowhere."""
    if not networks:
        return True
    if not address:
        return False
    found = ipaddress.ip_address(address)
    mapped = getattr(found, "ipv4_mapped", None) or found
    return any(mapped in ipaddress.ip_network(network) for network in networks)
