"""Words and sentences put together as the reader's language does it. Pure but for that language."""

from collections.abc import Iterable

from django.utils import translation
from django.utils.translation import gettext as _


def enumeration(parts: Iterable[str]) -> str:
    """Return parts in a row: "2 edited, 1 deleted"."""
    return _(", ").join(parts)


def sentences(first: str, second: str) -> str:
    """Return two sentences; Chinese puts no blank between them."""
    return _("%(first)s %(second)s") % {"first": first, "second": second}


def declared_label(text: str) -> str:
    """Return what a module of Python says about itself in the reader's language, where the catalogue has it."""
    return translation.gettext(text)
