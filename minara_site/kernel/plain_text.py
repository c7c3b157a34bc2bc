"""Text that can be stored: no NUL, no lone surrogates, within its length. Every door's text passes here (W-19)."""

import re

from django.utils.translation import gettext as _

from minara_site.kernel.errors import invalid_field

NUMBER = re.compile(r"[0-9]{1,18}")


def storable_problem(text: str) -> str | None:
    """Return why this text cannot be stored on both engines, or None."""
    if "\0" in text:
        return _("Remove the NUL character; it cannot be stored.")
    try:
        text.encode()
    except UnicodeEncodeError:
        return _("Remove the lone surrogate; it is no character.")
    return None


def check_text(
    text: str,
    *,
    field: str,
    max_chars: int,
    min_chars: int = 0,
) -> str:
    """Return the text exactly as it is. Raises Invalid when it is too short, too long or cannot be stored."""
    problem = storable_problem(text)
    if problem is None and len(text) < min_chars:
        problem = _("Write at least one character.")
    if problem is None and len(text) > max_chars:
        problem = _("Shorten it to %(max)d characters; it has %(now)d.") % {"max": max_chars, "now": len(text)}
    if problem is not None:
        raise invalid_field(field, problem)
    return text


def clean_text(
    text: str,
    *,
    field: str,
    max_chars: int,
    min_chars: int = 1,
) -> str:
    """Return the text trimmed. Raises Invalid when it is too short, too long or cannot be stored."""
    return check_text(text.strip(), field=field, max_chars=max_chars, min_chars=min_chars)


def parse_number(text: str, *, after: str = "") -> int | None:
    """Return the id or version that stands in a text `after` these words, None when it is none that a column holds."""
    number = text.removeprefix(after)
    return int(number) if text.startswith(after) and NUMBER.fullmatch(number) else None
