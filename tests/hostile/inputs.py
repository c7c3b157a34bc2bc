"""What a hostile or clumsy caller sends: the shared corpora and what they lack."""

import json
from functools import cache
from typing import Any

from tests.kit.shared import corpus

CI_SHARE = 16  # a run in CI sends every sixteenth row of a corpus; `make soak` sends all
PAIRWISE = 64 * CI_SHARE  # so many fields share the texts in CI, where nobody says how many there are

ODD_TEXTS = (
    "",
    " ",
    "\0",
    "a\0b",
    "\ufeff",
    "\ufeffBOM first",
    "\u202egnp.exe",
    "\u2066iso\u2069late",
    "\u200b\u200c\u200d",
    "a\u2028b\u2029c",
    "a\x0bb\x0cc\x1cd\x85e",
    "\r\n\r\nSet-Cookie: a=b",
    "e\u0301 Z̴a̷l̵g̶o",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "\U000e0041\U000e0042 tag characters",
    "\uffff\ufffe\U0010ffff",
    "{{7*7}}${7*7}#{7*7}<%= 7*7 %>",
    "{% debug %}{{ settings.SECRET_KEY }}{% include '/etc/passwd' %}",
    "{0.__class__.__mro__} {evidence.__class__} %s %n %(x)s %",
    "../../../../etc/passwd",
    "..\\..\\windows\\win.ini",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "//evil.example/x",
    "\\\\evil\\share",
    "__proto__",
    "constructor",
    "null",
    "undefined",
    "NaN",
    "Infinity",
    "-0",
    "1e999",
    "0x7fffffff",
    "9" * 400,
    "-" + "9" * 400,
    "true",
    "[]",
    "{}",
    "x" * 513,
    "x" * 5000,
    "山" * 4001,
    "((((((((((" * 40,
    '"' * 99,
    "* " * 200,
    "a OR " * 100,
    "category:" * 60,
    "category:lesson category:fact",
    "owner:u1",
    "u1",
    "%",
    "_",
    "%_%\\",
    "'",
    "' OR '1'='1",
    "'; DROP TABLE memories; --",
    "1; SELECT pg_sleep(3)--",
    "(SELECT randomblob(1000000000))",
    "\x1b[2J\x1b[31mred",
    'event="forged" level=error',
)
PATH_NUMBERS = (
    "0", "-1", "+1", "1.0", "1e3", "0x1", "00", "٣", "１", " 1", "1 ", "NaN", "null",
    str(2**31), str(2**63 - 1), str(2**63), str(2**64), "1" + "0" * 40, "9" * 4400,
)  # fmt: skip
PATH_TEXTS = (
    "\0", "a\0", "..", ".", "%", "%00", "%2e%2e", "a/b", "a\\b", "\r\nX: y", "'", '"', "<b>", "{{7*7}}", "\u202e", "\ufeff",
    "山寨", "x" * 3000, "' OR 1=1--", "sess_", "sess_\0", "*", "?", "#", ";", "a" * 32, "%FF%FE",
)  # fmt: skip
RAW_PATHS = (
    "%ED%A0%80",
    "%FF",
    "%C0%80",
    "%F8%88%80%80%80",
    "%00",
    "%E2%80",
    "%u0041",
    "%",
    "%zz",
    "..%2f..%2f",
    "%0d%0aX:%20y",
)
ODD_JSON = (
    b"\xff\xfe{}",
    b"\xed\xa0\x80",
    b'{"statement": "\\u0000"}',
    b'{"statement": "\\ud83d"}',
    b'{"statement": "\\udc00\\ud800"}',
    b'{"\\ud800": 1}',
    b'{"\\u0000": 1}',
    b'{"statement": NaN}',
    b'{"statement": -Infinity}',
    b'{"statement": 1e400}',
    b'{"statement": ' + b"9" * 5000 + b"}",
    b'{"statement": "a", "statement": "b"}',
    b'{"statement": "a", "tickers": [' + b"[" * 62 + b"]" * 62 + b"]}",
    b"[" * 64 + b"]" * 64,
    b"[" * 65 + b"]" * 65,
    b'{"a":' * 65 + b"1" + b"}" * 65,
    b"[" * 400_000,
    b"[1," * 200_000,
    b"[]",
    b"0",
    b"true",
    b'""',
    b"\xef\xbb\xbf{}",
    b"{}\0",
    b"\0",
    b"{'statement': 'a'}",
    b'{"statement": "a"} // comment',
    b'{"statement": "a\nb"}',
    '{"statement": "é"}'.encode("utf-16"),
    '{"statement": "é"}'.encode("latin-1"),
    b"statement=a",
    b"\x1f\x8b\x08\x00",
    b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
)
ODD_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**40, "", " ", "\0", "a\0b", "x" * 5000, [], {}, [[]], [None], {"a": {"b": 1}}, ["a"] * 2000,
    "' OR 1=1--", "\ufeff", "{{7*7}}",
)  # fmt: skip
HEADER_VALUES = (
    "", " ", "x", "x" * 8000, "\x00", "é", "\u00b2", '"', "';--", "{{7*7}}", "../../etc/passwd", "-1", "9" * 5000, "null", "a,b;c=d",
    "http://[", "http://[::1", "//evil", "multipart/form-data", "bytes=0-,-1",
    'W/"1"', "*", "Basic !!!", "Bearer \u00ff", '"\\000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"', "a=b; " * 400, "Thu, 99 Foo 9999", "gzip, \x7f",
)  # fmt: skip
HEADER_NAMES = (
    "Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Content-Length", "Content-Type", "Cookie", "Date", "Expect",
    "Forwarded", "Host", "HX-Boosted", "HX-Current-URL", "HX-Current-URL-URI-AutoEncoded", "HX-History-Restore-Request", "HX-Prompt",
    "HX-Request", "HX-Target", "HX-Trigger", "HX-Trigger-Name", "Triggering-Event", "Idempotency-Key", "If-Match", "If-Modified-Since",
    "If-None-Match", "If-Range", "Origin", "Range", "Referer", "Transfer-Encoding", "User-Agent", "X-CSRFToken", "X-Correlation-ID",
    "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-HTTP-Method-Override", "X-Request-ID",
)  # fmt: skip


@cache
def naughty() -> tuple[str, ...]:
    """Return every text of the search corpus: naughty strings, FTS5 syntax, SQL injections."""
    return tuple(row["q"] for row in corpus("fts5_queries"))


@cache
def from_corpora() -> tuple[str, ...]:
    """Return every text of every corpus of hostile input, whatever it was meant for."""
    fields = {
        "fence_escapes": "text",
        "import_bundles": "body",
        "json_bodies": "body",
        "prompt_injection": "text",
        "ssrf_urls": "url",
        "xss": "text",
    }
    others = (str(row[field]) for name, field in fields.items() for row in corpus(name) if field in row)
    return (*naughty(), *others)


def texts(seed: int, *, share: int, among: int = PAIRWISE) -> tuple[str, ...]:
    """Return odd texts and texts of the corpora for one field: its part of them; when `share` is 1 all naughty ones too.

    `seed` numbers the field; `among` so many of them each text meets one.
    """
    own = sample((*ODD_TEXTS, *from_corpora()), seed, share=among)
    return own if share > 1 else (*ODD_TEXTS, *naughty(), *own)


@cache
def injections() -> tuple[str, ...]:
    """Return the SQL injections."""
    return tuple(row["q"] for row in corpus("fts5_queries") if row["src"].startswith("sqli"))


@cache
def scripts() -> tuple[str, ...]:
    """Return every text that tries to become a script."""
    return tuple(row["text"] for row in corpus("xss"))


def bodies() -> tuple[bytes, ...]:
    """Return bodies that are no JSON, or JSON that nobody should send."""
    return tuple(row["body"].encode("utf-8", "surrogatepass") for row in corpus("json_bodies")) + ODD_JSON


def sample(rows: tuple[Any, ...], seed: int, *, share: int) -> tuple[Any, ...]:
    """Return every `share`-th row, beginning at another one for each seed, so that fields together meet all rows."""
    return rows[seed % share :: share]


def as_json(value: Any) -> bytes:
    """Return the value as a body; lone surrogates become escapes."""
    return json.dumps(value).encode()
