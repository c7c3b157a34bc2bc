"""The lifecycle of one methodology as a list: what happened, with its counts behind it."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _, gettext_lazy

from learning_app.court.services.evidence import MARK_LOST
from learning_app.methodologies.models import LifecycleEvent
from learning_app.methodology_pages.pages.labels import LIFECYCLE, why_label
from learning_app.methodology_pages.selectors import find_readable_cases
from learning_app.vocabulary import LifecycleKind
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.web.filters import Text, choice
from minara_site.web.lists import Column, Empty, ListSpec, by_time, time_column

EVENTS = ListSpec(
    name="events",
    caption=gettext_lazy("Lifecycle"),
    row="learning_app/methodologies/_event_row.html",
    columns=(
        Column(gettext_lazy("What happened")),
        Column(gettext_lazy("By")),
        Column(gettext_lazy("Right"), numeric=True),
        Column(gettext_lazy("Bound"), numeric=True),
        time_column(gettext_lazy("When")),
    ),
    sorts=by_time("pk"),
    filters=(
        choice(
            "kind",
            gettext_lazy("What happened"),
            [(kind.value, label) for kind, label in LIFECYCLE.items()],
        ),
    ),
    has_actions=False,
    empty=Empty(
        "log",
        gettext_lazy("Nothing happened yet"),
        gettext_lazy("Every change is listed here, for good."),
    ),
)


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event as the list shows it. `case_id` is None where this reader may not open the case.

    `wording` are the words of a duplicate by label; operators alone read those that the guard refused.
    """

    event: LifecycleEvent
    author: str
    case_id: int | None
    refused: Sequence[str]
    wording: Sequence[tuple[Text, str]]

    @property
    def pk(self) -> int:
        return self.event.pk

    @property
    def label(self) -> Text:
        if "reverses" in self.event.details:
            return _("Outcome reversed")
        if MARK_LOST in self.event.details:
            return _("Mark lost")
        is_undo = "undo" in self.event.details and "rollback" not in self.event.details
        return _("Decision undone") if is_undo else LIFECYCLE[LifecycleKind(self.event.kind)]

    @property
    def why(self) -> str:
        return why_label(self.event)

    @property
    def window(self) -> str:
        """Return the window of an institution run that an outcome came of, empty for another."""
        return str(self.event.details.get("window", ""))

    @property
    def outcome(self) -> bool | None:
        """Whether the outcome was right; None when it is no outcome."""
        is_outcome = self.event.kind == LifecycleKind.OUTCOME_RECORDED
        return bool(self.event.details.get("correct")) if is_outcome else None


def shape_events(events: Sequence[LifecycleEvent], principal: Principal) -> list[EventRow]:
    """Return events as their reader sees them. Three queries at most."""
    names = name_actors({event.actor for event in events}, reader=principal.owner)
    case_ids = {event.case_id for event in events if event.case_id}
    owner = principal.reaches(Act.CASES_READ)
    readable = find_readable_cases(case_ids, owner=owner) if case_ids else set()
    may_decide = principal.may(Act.METHODOLOGY_DECIDE)
    return [
        EventRow(
            event,
            names[event.actor],
            event.case_id if event.case_id in readable else None,
            refused := event.details.get("refused", ()),
            wording_of(event) if may_decide or not refused else (),
        )
        for event in events
    ]


def wording_of(event: LifecycleEvent) -> list[tuple[Text, str]]:
    """Return the words of a duplicate by label."""
    labels = {
        "name": _("Name"),
        "methodology": _("Text"),
        "evidence": _("Evidence"),
    }
    said: list[tuple[Text, str]] = [
        (label, event.details[key]) for key, label in labels.items() if event.details.get(key)
    ]
    if phases := event.details.get("phases"):
        said.append((_("Phases"), "; ".join(phase["name"] for phase in phases)))
    if structured := event.details.get("structured"):
        fields = [
            structured["primary_signal"],
            structured["timeframe"],
            *structured["indicators"],
        ]
        said.append((_("Structure"), " ".join(fields)))
    return said
