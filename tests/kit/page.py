"""What a reader finds on a page: its words, the rows of its list, its toasts and what they undo."""

import re
from html import unescape
from typing import Any

from django.http import HttpResponse


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
