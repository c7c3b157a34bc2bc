"""The list of preferences: tabs by state, filters, and what a row offers its reader."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from learning_app.preferences.core import MOVES, PREFERENCE_KIND
from learning_app.preferences.models import Preference
from learning_app.preferences.pages.labels import DIMENSIONS, KINDS, SOURCES, STATES
from learning_app.preferences.selectors import list_preferences
from learning_app.vocabulary import PreferenceDimension, PreferenceSource, PreferenceState
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.guard.selectors import find_refused
from minara_site.shell.lists import OwnedList
from minara_site.web.badges import SOURCES as BADGES
from minara_site.web.filters import Filter, FilterKind, Rows, Text, choice, search_in
from minara_site.web.lists import BulkAction, Column, Empty, ListSpec, by_time, time_column

ACTIVE = PreferenceState.ACTIVE


@dataclass(frozen=True, slots=True)
class PreferenceRow:
    """A preference as lists and pages show it, without another's secrets, and what this reader may do with it.

    `is_refused`: the guard holds it, or today's rules refuse it. `owner_name` is empty for one's own.
    """

    row: Preference
    is_own: bool
    is_refused: bool
    owner_name: str = ""

    @property
    def pk(self) -> int:
        return self.row.pk

    @property
    def url(self) -> str:
        return reverse("preferences:one", args=[self.row.pk])

    @property
    def state(self) -> Text:
        return STATES[PreferenceState(self.row.state)]

    @property
    def dimension(self) -> Text:
        return DIMENSIONS[PreferenceDimension(self.row.dimension)]

    @property
    def source(self) -> str:
        """Return the badge of where it comes from."""
        return SOURCES[PreferenceSource(self.row.source)]

    @property
    def may_come_into_force(self) -> bool:
        """Whether somebody can approve or activate it now."""
        return not self.is_refused and ACTIVE in MOVES[PreferenceState(self.row.state)]

    @property
    def may_approve(self) -> bool:
        """Whether this reader can approve it: a soft preference."""
        return self.may_come_into_force and not self.row.is_hard

    @property
    def may_activate(self) -> bool:
        """Whether this reader can activate it: a hard constraint of their own."""
        return self.may_come_into_force and self.row.is_hard and self.is_own

    @property
    def may_reject(self) -> bool:
        return self.row.state == PreferenceState.PROPOSED and self.row.held_at is None

    @property
    def may_archive(self) -> bool:
        """Whether this reader can archive it at once: a soft preference."""
        return self.row.state == ACTIVE and not self.row.is_hard

    @property
    def may_end(self) -> bool:
        """Whether this reader can archive it with a typed value: a hard constraint of their own."""
        return self.row.state == ACTIVE and self.row.is_hard and self.is_own

    @property
    def is_owners_alone(self) -> bool:
        """Whether only its owner, somebody else, can go on with it."""
        return self.row.is_hard and not self.is_own and self.row.state != PreferenceState.REJECTED


def shape_rows(rows: Sequence[Preference], reader: User) -> list[PreferenceRow]:
    """Return rows, with their owners, as this reader sees them. One query at most."""
    refused = find_refused(PREFERENCE_KIND, rows)
    return [
        PreferenceRow(
            masked_for(reader, row),
            is_own=row.owner_id == reader.pk,
            is_refused=row.held_at is not None or row.pk in refused,
            owner_name="" if row.owner_id == reader.pk else row.owner.get_short_name(),
        )
        for row in rows
    ]


def in_state(rows: Rows, state: str) -> Rows:
    """Keep the rows of one tab."""
    return rows.filter(state=state)


STATE = Filter(
    "state",
    _("State"),
    FilterKind.TABS,
    choices=STATES,
    default=PreferenceState.PROPOSED,
    apply=in_state,
)
REJECT = BulkAction(
    "reject",
    _("Reject"),
    "x",
    key="r",
    act=Act.PREFERENCE_DECIDE,
)
PREFERENCES = OwnedList(
    spec=ListSpec(
        name="preferences",
        caption=_("Preferences"),
        row="learning_app/preferences/_row.html",
        columns=(
            Column(_("Preference")),
            Column(_("About")),
            Column(_("Source")),
            Column(_("Evidence"), numeric=True),
            time_column(_("Age")),
        ),
        sorts=by_time("created_at"),
        filters=(
            search_in(_("Search preferences"), "statement"),
            STATE,
            choice("dimension", _("About"), DIMENSIONS),
            choice("kind", _("Kind"), KINDS),
            choice("source", _("Source"), [(source, BADGES[badge].word) for source, badge in SOURCES.items()]),
        ),
        bulk=(REJECT,),
        bulk_url="preferences:bulk",
        empty=Empty(
            "pref",
            _("No proposals"),
            _(
                "Your agent proposes what you seem to prefer, out of what you write. Nothing is in force before you "
                "approve it. You can begin: say what you prefer."
            ),
            action=_("Tell what you prefer"),
            url="preferences:propose",
        ),
    ),
    act=Act.PREFERENCES_READ,
    kind="preferences",
    rows=lambda owner: list_preferences(owner=owner),
    own=_("Preferences"),
    of=_("Preferences of %(owner)s"),
    shape=lambda rows, request: shape_rows(rows, request.principal.owner),
    tabs=lambda owner: {state: in_state(list_preferences(owner=owner), state) for state in PreferenceState},
    owner_column=Column(_("Owner")),
    template="learning_app/preferences/list.html",
)
EMPTY_TABS: dict[PreferenceState, tuple[Text, Text]] = {
    ACTIVE: (_("None is active"), _("What you approve is here, and agents read it.")),
    PreferenceState.REJECTED: (_("None was rejected"), _("What you reject is here; an agent cannot propose it again.")),
    PreferenceState.ARCHIVED: (_("None is archived"), _("What was active is here, and can be approved again.")),
}
"""What the tabs say that are empty while nothing narrows them: title and text."""


def list_of(params: QueryDict) -> OwnedList:
    """Return the list that an address asks for: only what is proposed can be rejected together."""
    state = params.get("state")
    if state not in EMPTY_TABS:
        return PREFERENCES
    title, text = EMPTY_TABS[PreferenceState(state)]
    empty = Empty(
        "pref",
        title,
        text,
        action=_("See the proposals"),
        url="preferences:list",
    )
    filters = [replace(each, default=state) if each is STATE else each for each in PREFERENCES.spec.filters]
    return replace(
        PREFERENCES,
        spec=replace(
            PREFERENCES.spec,
            bulk=(),
            empty=empty,
            filters=filters,
        ),
    )
