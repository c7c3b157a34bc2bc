"""`/ops/internals/`: capital and strategy runs, for operators alone (R-46). Source: screens."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import Act
from minara_site.shell.lists import OwnedList
from minara_site.web.lists import Column, Empty, ListSpec, by_time, time_column
from profile_app.capital.models import CapitalReading

CAPITAL = OwnedList(
    spec=ListSpec(
        name="capital",
        caption=_("Measurements of capital"),
        row="profile_app/capital/_row.html",
        columns=(
            Column(_("Owner")),
            Column(_("Tier")),
            Column(_("Derivatives"), numeric=True),
            Column(_("Spot"), numeric=True),
            Column(_("Total"), numeric=True),
            Column(_("Not read")),
            time_column(_("Measured")),
        ),
        sorts=by_time("at"),
        has_actions=False,
        empty=Empty(
            "wallet", _("No reads yet"), _("Capital is measured once a day where a user has added an account.")
        ),
    ),
    act=Act.INTERNALS_READ,
    kind="capital",
    rows=CapitalReading.objects.for_owner,
    own=_("Capital"),
    of=_("Capital of %(owner)s"),
    begins_with_all=True,
)
capital_page = CAPITAL.as_page()
