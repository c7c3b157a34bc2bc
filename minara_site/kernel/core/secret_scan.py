"""Secrets that a text holds: keys of services and wallets, seed phrases, passwords. Source: decisions.

Public addresses, public keys and transaction hashes are no secrets. Nothing is sent anywhere: the plugins of
detect-secrets only look (`analyze_line`), their checks against the services stay off.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import BasePlugin
from detect_secrets.plugins.basic_auth import BasicAuthDetector
from detect_secrets.plugins.cloudant import CloudantDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.private_key import PrivateKeyDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from minara_site.kernel.core.redact import find_named_values
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

PLUGINS: tuple[BasePlugin, ...] = (
    ArtifactoryDetector(),
    AWSKeyDetector(),
    AzureStorageKeyDetector(),
    BasicAuthDetector(),
    CloudantDetector(),
    DiscordBotTokenDetector(),
    GitHubTokenDetector(),
    GitLabTokenDetector(),
    IbmCloudIamDetector(),
    IbmCosHmacDetector(),
    JwtTokenDetector(),
    MailchimpDetector(),
    NpmDetector(),
    OpenAIDetector(),
    PrivateKeyDetector(),
    PypiTokenDetector(),
    SendGridDetector(),
    SlackDetector(),
    SoftlayerDetector(),
    SquareOAuthDetector(),
    StripeDetector(),
    TelegramBotTokenDetector(),
    TwilioKeyDetector(),
)
"""No entropy, keyword or address plugin: prose, hashes and wallet addresses are full of what those look for."""

_LINE = re.compile(r"[^\r\n]+")
_MAY_HOLD_KEY = re.compile(
    r"(?<![A-Za-z0-9_+/=.-])(?=[A-Za-z_+/=.-]{0,40}+[0-9])[A-Za-z0-9_+/=.-]{12}"
    r"|://[^\s/@]{0,100}+@|PRIVATE KEY"
)
_PIECE, _OVERLAP = 4_000, 200
_SAID = re.compile(
    r"\b(?:password|passphrase|passcode|(?:api|secret|private) (?:key|secret)|api token) (?:is|ist|es|est) [\"'`]?"
    r"|(?:密码|密碼|口令|密钥|密鑰)\s?(?:是|为|為|[:：])\s?[\"'`]?",  # noqa: RUF001 - as it is written
    re.IGNORECASE,
)
"""A password that a sentence tells, not a name with a sign behind it."""
_SAID_WITH = ("pass", "secret", "key", "token", "密", "口令")
_PASSWORD = re.compile(r"(?=\S{0,64}[0-9])(?=\S{0,64}[A-Za-z])\S{6,}")


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
        if _PASSWORD.match(text[start:end]):
            yield Secret(SecretKind.PASSWORD, start, end)
    lowered = text.lower()
    if not any(word in lowered for word in _SAID_WITH):
        return
    for said in _SAID.finditer(text):
        if told := _PASSWORD.match(text, said.end()):
            yield Secret(SecretKind.PASSWORD, *told.span())


def _service_keys(text: str) -> Iterator[Secret]:
    for hit in SERVICE_KEY.finditer(text):
        if hit.group()[1:4] != "prv":
            yield Secret(SecretKind.OWN_KEY if hit.group().startswith("mnr_") else SecretKind.SERVICE_KEY, *hit.span())
    for line in _LINE.finditer(text):
        if _MAY_HOLD_KEY.search(line.group()):
            for start in range(line.start(), line.end(), _PIECE - _OVERLAP):
                yield from _plugin_keys(text, start, min(start + _PIECE, line.end()))


def _plugin_keys(text: str, start: int, end: int) -> Iterator[Secret]:
    """Yield what the plugins find in one line, or in a piece of a long one."""
    for plugin in PLUGINS:
        for secret in plugin.analyze_line(filename="", line=text[start:end]):
            if secret.secret_value:
                place = text.index(secret.secret_value, start)
                yield Secret(SecretKind.SERVICE_KEY, place, place + len(secret.secret_value))
