"""What the pages know of one window."""

from datetime import datetime

from django.utils.translation import gettext as _

from minara_site.kernel.errors import or_not_found
from minara_site.kernel.llm.core.windows import Window
from minara_site.kernel.llm.selectors import WindowStatus, load_budget


def find_status(window: Window, *, now: datetime) -> WindowStatus:
    """Return how a window that runs now stands. Raises NotFound for any other."""
    return or_not_found(
        next(
            (each for each in load_budget(now=now) if each.window == window),
            None,
        ),
        _("No such budget runs now. Caps are raised for the running day or month alone."),
    )
