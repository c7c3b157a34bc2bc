"""The anthropic SDK, on the one bounded HTTP client: an answer comes back whatever its status.

The SDK is given its key, its address and its transport, and finds nothing in the environment. It does not try again by
itself: its own way asks again after a timeout, which may be paid for twice, and waits as long as a server wants.
Importing this module imports the SDK, which takes more than a second: `tries` does so with the first question.
"""

import logging
import os
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import anthropic

from minara_site.kernel.http import UNUSABLE, HttpAnswer, HttpFailed, HttpLimits, client_of, failure_of, timeout_of

ANTHROPIC = "https://api.anthropic.com"
LIMITS = HttpLimits("model", max_bytes=2 * 1024 * 1024, max_waiting=64)


def post(
    body: dict[str, Any],
    *,
    url: str,
    key: str,
    seconds: float,
) -> HttpAnswer:
    """Return the whole answer to a request within this time. Raises HttpFailed."""
    process_id = os.getpid()
    try:
        sdk = sdk_of(process_id, url, key)
    except (*UNUSABLE, ValueError):
        raise HttpFailed("InvalidURL", was_sent=False) from None
    return client_of(process_id, LIMITS).run(lambda: exchange(sdk, body, seconds), seconds=seconds)


def exchange(
    sdk: anthropic.Anthropic,
    body: dict[str, Any],
    seconds: float,
) -> HttpAnswer:
    """Send a request and read what comes back. Raises HttpFailed."""
    try:
        response = sdk.messages.with_raw_response.create(**body, timeout=timeout_of(seconds)).http_response
    except anthropic.APIStatusError as error:
        response = error.response
    except anthropic.APIConnectionError as error:
        raise failure_of(error.__cause__ or error) from None
    except (anthropic.AnthropicError, *UNUSABLE) as error:
        raise HttpFailed(type(error).__name__, was_sent=False) from None
    return HttpAnswer(response.status_code, dict(response.headers), response.content)


@lru_cache(maxsize=8)
def sdk_of(process_id: int, url: str, key: str) -> anthropic.Anthropic:
    """Return this process's SDK for an address and a key."""
    logging.getLogger("anthropic").setLevel(logging.WARNING)  # below it writes what is asked
    http_client = client_of(process_id, LIMITS).http
    sdk = anthropic.Anthropic(
        api_key=key,
        base_url=url or ANTHROPIC,
        max_retries=0,
        open_telemetry=False,
        http_client=http_client,
    )
    sdk._custom_headers = headers_for(url, key)  # noqa: SLF001 - those of ANTHROPIC_CUSTOM_HEADERS go
    return sdk


def strict_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema as a strict tool needs it."""
    return anthropic.transform_schema(schema)


def headers_for(url: str, key: str) -> dict[str, str]:
    """Return what is sent beside the SDK's own headers.

    Since 2.0 it sends a key as a bearer token. Anthropic's API takes that; many other endpoints still read X-Api-Key.
    """
    is_other = (urlsplit(url or ANTHROPIC).hostname or "") != urlsplit(ANTHROPIC).hostname
    return {"Accept-Encoding": "identity", **({"X-Api-Key": key} if is_other else {})}
