"""Secrets taken out of what is logged: tool arguments, audit reasons, learnings. Sources: S2, decisions, trust R-30.

Public addresses and transaction hashes stay. Content of memories never passes here: a secret there is held, not
rewritten (decisions).
"""

import re
from collections.abc import Iterable

from pydantic import JsonValue

from minara_site.kernel.core.encodings import from_base64
from minara_site.kernel.core.secret_shapes import (
    BARE_KEY,
    PEM_KEY,
    SERVICE_KEY,
    WALLET_IMPORT_KEY,
    NameKind,
    find_phrases,
    is_key_after,
    is_secret_value,
    is_wallet_import_key,
    kind_of_name,
)
from minara_site.kernel.core.service_keys import find_service_keys

REDACTED = "[redacted]"
MAX_DEPTH = 100
_MAX_WRAPS = 3

_NAME = r"(?:(?:api|private|secret|access|signing|seed|recovery|backup) )?[A-Za-z][\w.-]{0,63}+"
_NAMED = re.compile(
    rf"(?<![A-Za-z0-9_.])(?P<name>{_NAME})\\{{0,8}}[\"']?\s{{0,4}}(?:[:=]|%3[aAdD])\s{{0,4}}"
    r"|(?<!\S)--?(?P<flag>[A-Za-z][\w-]{0,63})[ \t]{1,4}(?!-)"
    r"|(?<![A-Za-z0-9_.])[A-Za-z][\w.-]+(?=[\w.-]{64})"  # too long for a name: passed over at once, but for its end
)
_QUOTE = re.compile(r"\\{0,8}[\"']")
_REST_OF_LINE = re.compile(r"[^\r\n\"']*")
_RUN = re.compile(r"(?:(?!%26)[^\s&\"'<>])*")
_WHOLE_LINE_NAME = re.compile("authorization|cookie|mnemonic|phrase|words|seed", re.IGNORECASE)
_BEARER = re.compile(r"(?<=\bbearer )\s*(?=\S{0,64}[0-9])[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)
_BASIC = re.compile(r"(?<=\bbasic )\s*[A-Za-z0-9+/]{6,}={0,2}", re.IGNORECASE)
_NAME_AND_PASSWORD = re.compile(r"(?=.{6})[^\x00-\x1f:]*:[^\x00-\x1f]*")
_MIN_TOKEN = 16
_URL_PASSWORD = re.compile(r"(?<=://)([^\s/:@]{0,256}:)[^\s/@]{1,256}(?=@)")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_FLAG = re.compile(r"-{0,2}[\w-]{1,64}:?")
_SAID = re.compile(
    r"\b(?:password|passphrase|passcode|(?:api|secret|private|access) (?:key|secret)|(?:api|access|bot) token)"
    r" (?:is|ist|es|est) [\"'`]?"
    r"|(?:密码|密碼|口令|密钥|密鑰|私钥|私鑰)\s?(?:是|为|為|[:：])\s?[\"'`]?",  # noqa: RUF001 - as it is written
    re.IGNORECASE,
)
"""A password that a sentence tells, not a name with a sign behind it."""
_SAID_WITH = ("pass", "secret", "key", "token", "密", "口令", "私")
PASSWORD = re.compile(r"(?=\S{0,64}[0-9])(?=\S{0,64}[A-Za-z])\S{6,}")
"""A letter, a digit and a length: what a name or a sentence calls a password is mostly a word about one."""


def redact(value: JsonValue) -> JsonValue:
    """Return the value with every secret replaced by `[redacted]`; shape and all else unchanged.

    Applying it twice changes nothing more. What lies deeper than 100 levels is replaced as a whole.
    """
    return _redact(value, context="", depth=0)


def redact_text(text: str, *, context: str = "") -> str:
    """Return the text with every secret replaced. `context` is the name beside which the text stands."""
    return _redact_text(text, context, wraps=0)


def _redact(value: JsonValue, *, context: str, depth: int) -> JsonValue:
    if depth > MAX_DEPTH:
        return REDACTED
    if isinstance(value, str):
        return redact_text(value, context=context)
    if isinstance(value, dict):
        return _redact_object(value, depth)
    if isinstance(value, list):
        return _redact_list(value, context, depth)
    return value


def _redact_object(fields: dict[str, JsonValue], depth: int) -> JsonValue:
    """Redact by field name, and `{"name": "X-Api-Key", "value": …}` by the name that it holds."""
    label = next(
        (text for key in ("name", "key", "header") if isinstance(text := fields.get(key), str)),
        "",
    )
    hides_value = kind_of_name(label) is NameKind.SECRET and _FLAG.fullmatch(label) is not None
    return {
        redact_text(key): _redact_named(
            "password" if hides_value and key.startswith("value") else key,
            item,
            depth,
        )
        for key, item in fields.items()
    }


def _redact_named(name: str, value: JsonValue, depth: int) -> JsonValue:
    kind = kind_of_name(name)
    if kind is NameKind.PLAIN or (kind is not NameKind.SECRET and not isinstance(value, str)):
        return _redact(value, context=name, depth=depth + 1)
    if isinstance(value, str) and not is_secret_value(kind, value):
        return redact_text(value, context=name)
    return _blank(value, depth + 1)


def _blank(value: JsonValue, depth: int) -> JsonValue:
    """Replace every text and number; yes, no and nothing are no secrets."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, dict) and depth <= MAX_DEPTH:
        return {redact_text(key): _blank(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list) and depth <= MAX_DEPTH:
        return [_blank(item, depth + 1) for item in value]
    return REDACTED


def _redact_list(items: list[JsonValue], context: str, depth: int) -> JsonValue:
    """Redact a list: a phrase given word by word, a value that follows its flag or header name, or item by item."""
    texts = [item for item in items if isinstance(item, str)]
    if len(texts) == len(items) and any(" " not in text for text in texts) and find_phrases(" ".join(texts)):
        return [REDACTED for _ in items]
    redacted: list[JsonValue] = []
    name = ""
    for item in items:
        hidden = isinstance(item, str) and name
        redacted.append(_redact_named(name, item, depth) if hidden else _redact(item, context=context, depth=depth + 1))
        is_name = isinstance(item, str) and not name and _FLAG.fullmatch(item) and kind_of_name(item) is NameKind.SECRET
        name = str(item) if is_name else ""
    return redacted


def _redact_text(text: str, context: str, wraps: int) -> str:
    text = PEM_KEY.sub(REDACTED, text)
    text = _replaced(text, find_named_values(text))
    text = _replaced(text, find_said_values(text))
    text = _BASIC.sub(
        lambda hit: REDACTED if ":" in (_unwrapped(hit.group().strip()) or "") else hit.group(),
        _BEARER.sub(REDACTED, text),
    )
    text = _URL_PASSWORD.sub(rf"\1{REDACTED}", text)
    text = SERVICE_KEY.sub(REDACTED, text)
    text = _replaced(text, find_service_keys(text))
    text = WALLET_IMPORT_KEY.sub(
        lambda hit: REDACTED if is_wallet_import_key(hit.group()) else hit.group(),
        text,
    )
    keys = [hit for hit in BARE_KEY.finditer(text) if is_key_after(f"{context} {text[: hit.start()][-64:]}")]
    text = _replaced(text, [hit.span() for hit in keys])  # only the words before them tell them from a hash
    text = _replaced(text, find_phrases(text))
    return _BASE64.sub(
        lambda hit: _without_wrapped_secret(hit.group(), context, wraps),
        text,
    )


def _replaced(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text with these parts redacted; the parts are in order and do not overlap."""
    pieces: list[str] = []
    end = 0
    for start, stop in spans:
        pieces += [text[end:start], REDACTED]
        end = stop
    return "".join([*pieces, text[end:]])


def find_named_values(text: str) -> list[tuple[int, int]]:
    """Return where values stand beside a secret's name: `password=…`, `"apiKey": "…"`, `Cookie: …`, `--token …`."""
    spans: list[tuple[int, int]] = []
    end = 0
    for hit in _NAMED.finditer(text):
        name = hit["name"] or hit["flag"] or ""
        kind = kind_of_name(name)
        if hit.start() < end or kind is NameKind.PLAIN or text.startswith(REDACTED, hit.end()):
            continue
        start, stop = _value_span(
            text,
            hit.end(),
            whole_line=_WHOLE_LINE_NAME.search(name) is not None,
        )
        if start < stop and is_secret_value(kind, text[start:stop]):
            spans.append((start, stop))
            end = stop
    return spans


def find_said_values(text: str) -> list[tuple[int, int]]:
    """Return where passwords stand that a sentence tells: `the password is …`."""
    lowered = text.lower()
    if not any(word in lowered for word in _SAID_WITH):
        return []
    spans: list[tuple[int, int]] = []
    end = 0
    for said in _SAID.finditer(text):
        told = PASSWORD.match(text, said.end()) if said.end() >= end else None
        if told:
            spans.append(told.span())
            end = told.end()
    return spans


def find_header_values(text: str) -> list[tuple[int, int]]:
    """Return where a token stands behind `Bearer` or `Basic`, and a password in an address of a service."""
    tokens = [hit.span() for hit in _BEARER.finditer(text) if len(hit.group()) >= _MIN_TOKEN]
    tokens += [
        hit.span()
        for hit in _BASIC.finditer(text)
        if _NAME_AND_PASSWORD.fullmatch(_unwrapped(hit.group().strip()) or "")
    ]
    return tokens + [(hit.end(1), hit.end()) for hit in _URL_PASSWORD.finditer(text)]


def _value_span(text: str, start: int, *, whole_line: bool) -> tuple[int, int]:
    """Return where the value that begins here starts and ends, without its quotes."""
    quote = _QUOTE.match(text, start)
    if quote is None:
        value = (_REST_OF_LINE if whole_line else _RUN).match(text, start)
        return start, start + len(value.group().rstrip(",;)}]")) if value else start
    stop = text.find(quote.group(), quote.end())
    while stop > quote.end() and text[stop - 1] == "\\":
        stop = text.find(quote.group(), stop + 1)
    return quote.end(), len(text) if stop < 0 else stop


def _without_wrapped_secret(wrapped: str, context: str, wraps: int) -> str:
    """Return the marker when the base64 text holds a secret, else the text itself."""
    inner = _unwrapped(wrapped) if wraps < _MAX_WRAPS else None
    return wrapped if inner is None or _redact_text(inner, context, wraps + 1) == inner else REDACTED


def _unwrapped(text: str) -> str | None:
    """Return what the base64 text says, or None when it is no text."""
    raw = from_base64(text)
    try:
        return None if raw is None else raw.decode()
    except UnicodeDecodeError:
        return None
