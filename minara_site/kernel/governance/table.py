"""The table of capabilities: what each app's `capabilities.py` declares. Source: S1 (governance and audit)."""

from dataclasses import dataclass

from django.utils.functional import Promise

from minara_site.kernel import registry


@dataclass(frozen=True, slots=True, eq=False)
class Capability:
    """Something that decides by itself and that operators switch; `text` says what it does while it is on.

    The name is also the row's in the database, and never changes. One that `has_shadow` can decide and be logged
    without changing anything.
    """

    name: str
    label: str | Promise
    text: str | Promise
    has_shadow: bool = True


def load_capabilities() -> dict[str, Capability]:
    """Return every capability by name, in the apps' order."""
    return registry.load("capabilities")
