"""Keys of services that their own format tells, as the plugins of detect-secrets know it.

Nothing is sent anywhere: the plugins only look (`analyze_line`), their checks against the services stay off.
"""

import re
from collections.abc import Iterator

from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import BasePlugin
from detect_secrets.plugins.cloudant import CloudantDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.private_key import PrivateKeyDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

PLUGINS: tuple[BasePlugin, ...] = (
    ArtifactoryDetector(),
    AWSKeyDetector(),
    AzureStorageKeyDetector(),
    CloudantDetector(),
    DiscordBotTokenDetector(),
    GitHubTokenDetector(),
    GitLabTokenDetector(),
    IbmCloudIamDetector(),
    IbmCosHmacDetector(),
    JwtTokenDetector(),
    MailchimpDetector(),
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
"""None for entropy, keywords or IPs: prose, hashes and wallet addresses are full of what those look for.

Passwords in addresses of services are found by their place (`redact.find_header_values`), keys of npm by `SERVICE_KEY`
and those of OpenAI here: their plugins look through the rest of the line again at each `//` and each `sk-`.
"""

_OPENAI = re.compile(r"(?<![A-Za-z0-9_-])(?>[A-Za-z0-9_-]*?sk-)[A-Za-z0-9_-]{20,}T3BlbkFJ[A-Za-z0-9]{20,}")

_LINE = re.compile(r"[^\r\n]+")
_MAY_HOLD_KEY = re.compile(r"(?<![A-Za-z0-9_+/=.-])(?=[A-Za-z_+/=.-]{0,40}+[0-9])[A-Za-z0-9_+/=.-]{12}|PRIVATE KEY")
_PIECE, _OVERLAP = 4_000, 200


def find_service_keys(text: str) -> list[tuple[int, int]]:
    """Return where keys stand, in order and apart: two that overlap are one. Linear."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted(_found(text)):
        if spans and start < spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], end)
        else:
            spans.append((start, end))
    return spans


def _found(text: str) -> Iterator[tuple[int, int]]:
    if "T3BlbkFJ" in text:
        yield from (hit.span() for hit in _OPENAI.finditer(text))
    for line in _LINE.finditer(text):
        if _MAY_HOLD_KEY.search(line.group()):
            for start in range(line.start(), line.end(), _PIECE - _OVERLAP):
                yield from _found_in_piece(
                    text,
                    start,
                    min(start + _PIECE, line.end()),
                )


def _found_in_piece(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what the plugins find in one line, or in a piece of a long one, wherever it stands there."""
    line = text[start:end]
    for plugin in PLUGINS:
        for secret in plugin.analyze_line(filename="", line=line):
            for hit in re.finditer(re.escape(secret.secret_value or ""), line):
                if hit.group():
                    yield start + hit.start(), start + hit.end()
