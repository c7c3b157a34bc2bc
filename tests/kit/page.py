"""What a reader finds on a page: its words, the rows of its list, its toasts and what they undo."""

import re
from html import unescape
from typing import Any

from django.http import HttpResponse

VERBATIM = re.compile(r"(<(pre|textarea|article|ins|del)\b.*?</\2>)", re.DOTALL)
TAG = re.compile(r"""<[a-zA-Z/!](?:"[^"]*"|'[^']*'|[^"'<>])*>""")
VALUE_OR_BREAK = re.compile(r"""("[^"]*"|'[^']*')|\s*\n\s*(>?)""")
BESIDE_TEXT = re.compile(r"(?<=[^\s>])\s*\n\s*(?=<(?:a|b|button|code|i|kbd|q|small|span|strong|svg|time)\b)")
BESIDE_TAGS = re.compile(r"(?<=>)\s*\n\s*|\s*\n\s*(?=<)")


def without_layout(markup: str) -> str:
    """Return markup without the line breaks that templates have for their readers, but where they part words."""
    parts = VERBATIM.split(markup)
    for at in range(0, len(parts), 3):
        part = TAG.sub(lambda tag: VALUE_OR_BREAK.sub(lambda found: found[1] or found[2] or " ", tag[0]), parts[at])
        parts[at] = BESIDE_TAGS.sub("", BESIDE_TEXT.sub(" ", part))
    return "".join(part for at, part in enumerate(parts) if at % 3 < 2)


def text_of(answer: Any, status: int = 200) -> str:
    """Return the markup of an answer of this status."""
    assert answer.status_code == status, (answer.status_code, answer.content[:500])
    return str(answer.content.decode())


def words_of(page: HttpResponse | str) -> str:
    """Return what the reader sees: no tags, one space between words."""
    markup = page if isinstance(page, str) else page.content.decode()
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", markup))).strip()


def rows_of(page: HttpResponse, name: str) -> list[str]:
    """Return the words of each row of a list, whose rows are called `name-<id>`."""
    return [words_of(row) for row in re.findall(rf'<tr id="{name}-\w+".*?</tr>', page.content.decode(), re.DOTALL)]


def toasts_of(page: HttpResponse) -> list[str]:
    """Return the messages that stand in a corner."""
    return re.findall(r"data-toast><span>(.*?)</span>", unescape(page.content.decode()))


def undo_of(page: HttpResponse) -> str:
    """Return the address of the first Undo of a toast."""
    return str(re.findall(r'action="([^"]+)" data-undo', page.content.decode())[0])
