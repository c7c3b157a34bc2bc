"""What came out of a turn leads back to it."""

import re

from django.urls import reverse
from django.utils.translation import gettext as _

TURN = re.compile(r"turn:([\w-]{1,27}):([1-9]\d{0,8})")


def turn_link(origin: str) -> tuple[str, str]:
    """Return in words the turn that an origin names, and its place on the page; both are empty for another origin."""
    found = TURN.fullmatch(origin)
    return (
        (_("turn %(number)s of a conversation") % {"number": found[2]}, turn_url(*found.groups()))
        if found
        else ("", "")
    )


def turn_url(session_id: str, sequence: object) -> str:
    """Return the place of a turn on the page of its conversation."""
    return f"{reverse('conversations:page', args=[session_id])}?turn={sequence}#turn-{sequence}"
