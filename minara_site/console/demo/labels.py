"""What loading and removing the demo did, in words, for the page and the command."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from minara_site.console.demo.services import Removal
from minara_site.web.labels import sentences

WORD = "demo"  # typed before anything goes


def loaded_label(count: int) -> str:
    """Return what a load did."""
    text = _("Loaded a demo of %(count)d memories.") if count else _("The demo is loaded already.")
    return text % {"count": count}


def removed_label(removal: Removal | None) -> str:
    """Return what a removal did; None where there was no demo."""
    if removal is None:
        return _("There is no demo to remove.")
    done = _("Removed the demo and its %(count)d memories.") % {"count": removal.memories}
    names = ", ".join(name for name, _why in removal.kept)
    return sentences(done, _("These accounts stay: %(names)s.") % {"names": names}) if names else done


def removal_lines(removal: Removal) -> Iterator[str]:
    """Yield what goes and what stays, line by line."""
    for rows in removal.rows:
        counts = {"kind": rows.label, "gone": rows.gone, "kept": rows.kept}
        yield _("%(kind)s: %(gone)d go, %(kept)d stay because a person or an agent changed them") % counts
    for name in removal.gone:
        yield _("account %(name)s goes") % {"name": name}
    for name, why in removal.kept:
        yield _("account %(name)s stays: %(why)s") % {"name": name, "why": why}
