"""How the memories of one writer are listed for operators."""

from django.utils.translation import gettext_lazy

from minara_site.web.keyset import Order
from minara_site.web.lists import Column, Empty, ListSpec, Sort

ROWS = ListSpec(
    name="written",
    caption=gettext_lazy("Memories of one writer"),
    row="memory_app/writes/_memory_row.html",
    columns=(
        Column(gettext_lazy("Memory")),
        Column(gettext_lazy("Owner")),
        Column(gettext_lazy("Source")),
        Column(gettext_lazy("State")),
        Column(gettext_lazy("Changed"), sorts=("newest", "oldest"), numeric=True),
    ),
    sorts=(
        Sort("newest", gettext_lazy("newest change first"), Order("updated_at")),
        Sort("oldest", gettext_lazy("oldest change first"), Order("updated_at", descending=False)),
    ),
    has_actions=False,
    empty=Empty(
        "memory",
        gettext_lazy("Nothing here"),
        gettext_lazy("No memory stands as this writer wrote it. It may be edited, purged, or was never there."),
        action=gettext_lazy("Go to the writers"),
        url="writes:page",
    ),
)
