"""Why a row stays as it is when acts are undone: one closed list, for every kind of row."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class UnchangedReason(TextChoices):
    """Why a row stays."""

    EDITED_SINCE = "edited_since", _("its text was changed afterwards")
    MOVED_SINCE = "moved_since", _("it was kept, deleted or restored afterwards")
    CHANGED_SINCE = "changed_since", _("its value was changed afterwards")
    GONE = "gone", _("it was removed for good")
    DECIDED = "decided", _("a person decided on it")
    RECORD = "record", _("it is a record of what was decided, which nothing changes")
    WAITS = "waits", _("its new value waits in the queue of held texts; discard it there")
    HELD = "held", _("the guard holds its text; decide on the held text first")
    TAKEN = "taken", _("another has its place now")
    FULL = "full", _("its list is full")
    TYPED = "typed", _("only its owner decides that, on its page, and types its value")
    NOT_YOURS = "not_yours", _("it is not yours")
