"""The list of what ran in shadow mode."""

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.governance.table import load_capabilities
from minara_site.shell.owners import user_filter
from minara_site.web.filters import choice
from minara_site.web.lists import Column, Empty, ListSpec, by_time

SHADOWS = ListSpec(
    name="shadows",
    caption=_("Shadow mode"),
    row="console/governance/_row.html",
    columns=(
        Column(_("What would have been done")),
        Column(_("Capability")),
        Column(_("Cost"), numeric=True),
        Column(_("When"), sorts=("newest", "oldest"), numeric=True),
    ),
    sorts=by_time("at"),
    filters=(
        choice(
            "capability",
            _("Capability"),
            [(each.name, each.label) for each in load_capabilities().values() if each.has_shadow],
        ),
        user_filter("owner", _("Whose (user name)")),
    ),
    has_actions=False,
    page_size=25,
    empty=Empty(
        "check",
        _("All normal"),
        _("Nothing ran in shadow mode yet. Set a capability to shadow, and what it would do is listed here."),
    ),
)
