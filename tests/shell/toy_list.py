"""A list page as CONTRIBUTING describes it, whole: values of the profile, with tabs, search and a choice of owner."""

from django.urls import include, path
from django.utils.translation import gettext_lazy as _

from memory_app.user_profile.models import UserProfileEntry
from minara_site.access.policy import Act
from minara_site.shell.lists import OwnedList
from minara_site.web.filters import Filter, FilterKind
from minara_site.web.lists import Column, Empty, ListSpec, by_time


def entries(owner):
    return UserProfileEntry.objects.for_owner(owner)


TOYS = OwnedList(
    spec=ListSpec(
        name="toys",
        caption=_("Toys"),
        row="toy/_row.html",
        columns=(Column(_("Name")), Column(_("Changed"), sorts=("newest", "oldest"), numeric=True)),
        sorts=by_time("updated_at"),
        filters=(
            Filter(
                "state",
                _("State"),
                FilterKind.TABS,
                choices=(("all", _("All")), ("long", _("Long"))),
                default="all",
                apply=lambda rows, state: rows.filter(value__regex=".{20}") if state == "long" else rows,
            ),
            Filter("q", _("Search toys"), FilterKind.SEARCH, lookup="value__icontains"),
        ),
        empty=Empty("person", _("No toys"), _("What you put here stands in every prompt.")),
        has_actions=False,
    ),
    act=Act.USER_PROFILE_READ,
    kind="user_profile",
    rows=entries,
    own=_("Toys"),
    of=_("Toys of %(owner)s"),
    tabs=lambda owner: {"all": entries(owner), "long": entries(owner).filter(value__regex=".{20}")},
)

urlpatterns = [path("toys/", TOYS.as_page(), name="toys"), path("", include("minara_site.urls"))]
