"""Secrets that a text holds: keys of services and wallets, seed phrases, passwords. Source: decisions.

Public addresses, public keys and transaction hashes are no secrets.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from minara_site.kernel.core.redact import PASSWORD, find_header_values, find_named_values, find_said_values
from minara_site.kernel.core.secret_shapes import (
    BARE_KEY,
    EXTENDED_KEY,
    PEM_KEY,
    SERVICE_KEY,
    WALLET_IMPORT_KEY,
    is_extended_key,
    is_key_after,
    is_wallet_import_key,
)
from minara_site.kernel.core.seed_phrases import find_seed_phrases
from minara_site.kernel.core.service_keys import find_service_keys


class SecretKind(StrEnum):
    """What kind of secret was found."""

    SEED_PHRASE = "seed_phrase"
    WALLET_KEY = "wallet_key"
    PRIVATE_KEY = "private_key"
    PEM_KEY = "pem_key"
    OWN_KEY = "own_key"
    SERVICE_KEY = "service_key"
    PASSWORD = "password"  # noqa: S105 - a word of the vocabulary


_RANK = {kind: rank for rank, kind in enumerate(SecretKind)}


class Secret(NamedTuple):
    """One secret and the characters that it stands on."""

    kind: SecretKind
    start: int
    end: int


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets in a text, in order; of two that overlap the one whose kind stands first. Linear."""
    kept: list[Secret] = []
    for secret in sorted(_all_secrets(text), key=lambda secret: secret.start):
        if not kept or kept[-1].end <= secret.start:
            kept.append(secret)
        elif _RANK[secret.kind] < _RANK[kept[-1].kind]:
            kept[-1] = secret
    return kept


def _all_secrets(text: str) -> Iterator[Secret]:
    for start, end in find_seed_phrases(text):
        yield Secret(SecretKind.SEED_PHRASE, start, end)
    for kind, pattern, is_one in (
        (SecretKind.WALLET_KEY, WALLET_IMPORT_KEY, is_wallet_import_key),
        (SecretKind.WALLET_KEY, EXTENDED_KEY, is_extended_key),
    ):
        for hit in pattern.finditer(text):
            if is_one(hit.group()):
                yield Secret(kind, *hit.span())
    for hit in BARE_KEY.finditer(text):
        if is_key_after(text[max(hit.start() - 64, 0) : hit.start()]):
            yield Secret(SecretKind.PRIVATE_KEY, *hit.span())
    for hit in PEM_KEY.finditer(text):
        yield Secret(SecretKind.PEM_KEY, *hit.span())
    yield from _service_keys(text)
    yield from _passwords(text)


def _passwords(text: str) -> Iterator[Secret]:
    for start, end in find_named_values(text):
        if PASSWORD.match(text[start:end]):
            yield Secret(SecretKind.PASSWORD, start, end)
    for start, end in find_said_values(text):
        yield Secret(SecretKind.PASSWORD, start, end)


def _service_keys(text: str) -> Iterator[Secret]:
    for hit in SERVICE_KEY.finditer(text):
        if hit.group()[1:4] != "prv":
            yield Secret(
                SecretKind.OWN_KEY if hit.group().startswith("mnr_") else SecretKind.SERVICE_KEY,
                *hit.span(),
            )
    for start, end in (*find_service_keys(text), *find_header_values(text)):
        yield Secret(SecretKind.SERVICE_KEY, start, end)
