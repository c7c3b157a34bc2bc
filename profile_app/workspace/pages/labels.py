"""What each file is for and where it lands, in words. Source: S3 (file inventory)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from profile_app.workspace.core.names import FileName, Placement, is_done, note_date

Label = str | Promise

PURPOSES: dict[str, Label] = {
    FileName.SOUL: _("Who your agent is: its character and how it speaks."),
    FileName.AGENTS: _("What your agent does at the start of each session."),
    FileName.USER: _("What your agent should know about you."),
    FileName.MEMORY: _("What stays true for long, kept by hand."),
    FileName.IDENTITY: _("What your agent is called, how it is, and its emoji."),
    FileName.TOOLS: _("Notes about tools, for people. Your agent reads their definitions instead."),
    FileName.BOOTSTRAP: _("What your agent does in its very first session."),
    FileName.HEARTBEAT: _("What runs when, and how far it is. Services rewrite all but its schedule."),
}
NOTE_PURPOSE = _("What happened on one day.")
DONE_PURPOSE = _("What the first session carried. It stays as it was.")
PLACES: dict[Placement, Label] = {
    Placement.PREFIX: _("In the cached beginning of every prompt"),
    Placement.ONCE: _("In the beginning of one prompt, that of the next session"),
    Placement.PERSONALIZATION: _("In every prompt, as your own instructions"),
    Placement.MEMORY: _("In every prompt, with the memories"),
    Placement.SHOWN: _("On pages only, in no prompt"),
    Placement.NEVER: _("In no prompt"),
}
OLD_NOTE = _("In no prompt: three newer notes are there")


def purpose_label(name: str) -> Label:
    """Return what a file is for."""
    if note_date(name):
        return NOTE_PURPOSE
    return DONE_PURPOSE if is_done(name) else PURPOSES[FileName(name)]
