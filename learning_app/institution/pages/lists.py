"""The list of institution runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _t, gettext_lazy as _

from learning_app.cases.pages.labels import OUTCOMES, SHAPES
from learning_app.institution.core.ladder import DAYS
from learning_app.institution.models import InstitutionReflection, InstitutionRun
from learning_app.institution.pages.labels import RATINGS, STATES, WINDOWS
from learning_app.institution.selectors import list_rows
from learning_app.vocabulary import InstitutionState, LadderWindow, OutcomeState, Rating
from minara_site.access.policy import Act
from minara_site.shell.lists import OwnedList
from minara_site.web.filters import Text, choice, dates
from minara_site.web.lists import Column, Empty, ListSpec, by_time, time_column
from minara_site.web.market_labels import pnl_label, symbol_filter, tone_of
from minara_site.web.moments import cost_label

SHAPES_OF_RUNS = {InstitutionState.DONE: "active"}


@dataclass(frozen=True, slots=True)
class InstitutionRow:
    """A run as a row: its state and decision in words, its newest score."""

    run: InstitutionRun

    @property
    def pk(self) -> int:
        return self.run.pk

    @property
    def state(self) -> tuple[str, Text]:
        """Return the shape of its badge, and its word."""
        state = InstitutionState(self.run.state)
        return SHAPES_OF_RUNS.get(state, state.value), STATES[state]

    @property
    def rating(self) -> Text:
        """Return what was decided, empty before."""
        return RATINGS[Rating(self.run.rating)] if self.run.rating else ""

    @property
    def confidence(self) -> str:
        """Return how sure the decision is, with two digits."""
        return "" if self.run.confidence is None else f"{self.run.confidence:.2f}"

    @property
    def newest(self) -> "RungRow | None":
        """Return the last window that was scored."""
        scored = [rung for rung in self.run.reflections.all() if rung.outcome_state != OutcomeState.PENDING]
        return RungRow(scored[-1]) if scored else None

    @property
    def scores(self) -> str:
        """Return how many windows are scored: "2 of 6"."""
        rungs = list(self.run.reflections.all())
        scored = sum(rung.outcome_state != OutcomeState.PENDING for rung in rungs)
        return _t("%(scored)d of %(all)d") % {"scored": scored, "all": len(rungs)} if rungs else ""

    @property
    def cost(self) -> str:
        """Return what its model calls cost."""
        return cost_label(self.run.cost_usd)


@dataclass(frozen=True, slots=True)
class RungRow:
    """One look back at a decision in words."""

    rung: InstitutionReflection

    @property
    def window(self) -> Text:
        return WINDOWS[LadderWindow(self.rung.window)]

    @property
    def outcome(self) -> tuple[str, Text]:
        """Return the shape of its badge, and its word; a snapshot waits for no price."""
        state = OutcomeState(self.rung.outcome_state)
        if state is OutcomeState.PENDING and self.rung.window not in DAYS:
            return SHAPES[OutcomeState.EXPIRED], _t("No price")
        return SHAPES[state], OUTCOMES[state]

    @property
    def horizon(self) -> tuple[str, Text, str] | None:
        """Return how the decision stood at the end of its own horizon: shape, word and move; None when not said."""
        if not self.rung.horizon_state:
            return None
        state = OutcomeState(self.rung.horizon_state)
        return SHAPES[state], OUTCOMES[state], pnl_label(self.rung.horizon_pnl_pct or 0)

    @property
    def move(self) -> tuple[str, str] | None:
        """Return tone and words of the move in the direction of the decision; None before it is known."""
        pnl = self.rung.pnl_pct
        return None if pnl is None else (tone_of(pnl), pnl_label(pnl))


FILTERS = (
    symbol_filter("ticker", _("Ticker")),
    choice("state", _("State"), STATES),
    choice("rating", _("Decision"), RATINGS),
    *dates("created_at", _("Requested from"), _("Requested before")),
)


def shape_rows(runs: Sequence[InstitutionRun]) -> list[InstitutionRow]:
    """Return runs as rows."""
    return [InstitutionRow(run) for run in runs]


RUNS = OwnedList(
    spec=ListSpec(
        name="institution",
        caption=_("Institution runs"),
        row="learning_app/institution/_row.html",
        filters=FILTERS,
        columns=(
            Column(_("Ticker")),
            Column(_("State")),
            Column(_("Decision")),
            Column(_("Confidence"), numeric=True),
            Column(_("Scored"), numeric=True),
            Column(_("Last score")),
            Column(_("Cost"), numeric=True),
            time_column(_("Requested")),
        ),
        sorts=by_time("created_at"),
        has_actions=False,
        empty=Empty(
            "method",
            _("No institution runs yet"),
            _("A committee of model roles studies a ticker and decides. Prices score the decision for a year."),
            no_match=_("No run matches these filters."),
        ),
    ),
    act=Act.INSTITUTION_READ,
    kind="institution_runs",
    rows=list_rows,
    own=_("Institution runs"),
    of=_("Institution runs of %(owner)s"),
    shape=lambda rows, request: shape_rows(rows),
    begins_with_all=True,
    owner_column=Column(_("Owner")),
    template="learning_app/institution/list.html",
)
