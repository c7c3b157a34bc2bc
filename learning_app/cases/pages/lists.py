"""The list of trading cases: whoever reads it finds a case and changes nothing."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from learning_app.cases.models import TradingCase
from learning_app.cases.pages.labels import OUTCOMES, SHAPES
from learning_app.cases.selectors import list_rows, search_cases
from learning_app.vocabulary import OutcomeState
from minara_site.access.policy import Act
from minara_site.kernel.market.outcome import Direction, change_pct
from minara_site.shell.lists import OwnedList
from minara_site.web.filters import Filter, FilterKind, Text, choice, dates
from minara_site.web.lists import Column, Empty, ListSpec, by_time, time_column
from minara_site.web.market_labels import DIRECTIONS, pnl_label, symbol_filter, tone_of


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case as a row: its outcome in words, its move with a sign."""

    case: TradingCase

    @property
    def pk(self) -> int:
        return self.case.pk

    @property
    def direction(self) -> Text:
        """Return what the decision expected of the price."""
        return DIRECTIONS[Direction(self.case.direction)]

    @property
    def outcome(self) -> tuple[str, Text]:
        """Return the shape of its badge, and its word."""
        state = OutcomeState(self.case.outcome_state)
        return SHAPES[state], OUTCOMES[state]

    @property
    def move(self) -> tuple[str, str] | None:
        """Return tone and words of the move in the direction of the decision; None before it is known.

        A neutral decision has no direction: its move is that of the price, and neither good nor bad.
        """
        case = self.case
        if case.pnl_pct is None:
            return None
        if self.is_neutral and case.entry_price and case.exit_price:
            return "", pnl_label(float(change_pct(case.entry_price, case.exit_price)))
        return tone_of(case.pnl_pct), pnl_label(case.pnl_pct)

    @property
    def is_neutral(self) -> bool:
        """Whether it expected the price to stay where it was."""
        return self.case.direction == Direction.NEUTRAL

    @property
    def hints(self) -> int:
        """Return how many methodologies were in front of the agent."""
        return len(self.case.hint_rows.all())


FILTERS = (
    Filter(
        "q",
        _("Find by id, trade, asset or day"),
        FilterKind.SEARCH,
        apply=search_cases,
    ),
    choice("outcome", _("Outcome"), OUTCOMES, lookup="outcome_state"),
    symbol_filter("asset", _("Asset")),
    Filter("trade", _("Id of the trade"), FilterKind.TEXT, lookup="trade_ref"),
    *dates("decided_at", _("Decided from"), _("Decided before")),
)
CASES = OwnedList(
    spec=ListSpec(
        name="cases",
        caption=_("Trading cases"),
        row="learning_app/cases/_row.html",
        filters=FILTERS,
        columns=(
            Column(_("Case")),
            Column(_("Asset")),
            Column(_("Direction")),
            time_column(_("Decided")),
            Column(_("Window ends"), numeric=True),
            Column(_("Outcome")),
            Column(_("Move"), numeric=True),
            Column(_("Hints"), numeric=True),
        ),
        sorts=by_time("decided_at"),
        has_actions=False,
        empty=Empty(
            "case",
            _("No trading cases yet"),
            _("An agent records each decision with the methodologies in front of it. Prices judge the case later."),
            no_match=_("No case matches: check id or window."),
        ),
    ),
    act=Act.CASES_READ,
    kind="trading_cases",
    rows=list_rows,
    own=_("Trading cases"),
    of=_("Trading cases of %(owner)s"),
    shape=lambda rows, request: [CaseRow(case) for case in rows],
    begins_with_all=True,
    owner_column=Column(_("Owner")),
    template="learning_app/cases/list.html",
)
