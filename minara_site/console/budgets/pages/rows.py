"""How the pages show a window: its bar, its amounts in words, and what it will come to."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from urllib.parse import urlencode

from django.conf import settings
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.kernel.governance.subjects import subject_label, subject_url
from minara_site.kernel.llm.core import Category, Span
from minara_site.kernel.llm.core.windows import EVERY
from minara_site.kernel.llm.models import LlmUsage
from minara_site.kernel.llm.selectors import WindowStatus
from minara_site.web.filters import Text
from minara_site.web.moments import cost_label

PURPOSES: Mapping[str, Text] = {
    Category.LEARNING: gettext_lazy("Reviews, reflection and what is learned"),
    Category.AGENT: gettext_lazy("The turns of the agent itself"),
    Category.WORKFLOW: gettext_lazy("Workflows and autopilot turns"),
    Category.EXPERIMENT: gettext_lazy("Offline experiments and backtests"),
    EVERY: gettext_lazy("Everything together"),
}
SPANS: Mapping[str, Text] = {
    Span.DAY: gettext_lazy("Today"),
    Span.MONTH: gettext_lazy("This month"),
}
CAP_AT = 100
BAR_UNITS = 120  # what is over the cap still shows


@dataclass(frozen=True, slots=True)
class CapBar:
    """A window as a bar of 120 units: the cap is at 100, `soft` is the mark where a warning begins."""

    label: str
    spent: float
    committed: float
    soft: float
    tone: str


@dataclass(frozen=True, slots=True)
class CallView:
    """A call as a row of the list."""

    call: LlmUsage

    @property
    def pk(self) -> int:
        return self.call.pk

    @property
    def subject(self) -> str:
        """What it was about, in words."""
        return subject_label(self.call.subject)

    @property
    def url(self) -> str:
        """Where that stands, empty when it has no page."""
        return subject_url(
            self.call.subject,
            self.call.owner.get_username() if self.call.owner else "",
        )


@dataclass(frozen=True, slots=True)
class WindowView:
    """A window as the pages show it; amounts are in words, `left` is empty where there is no cap."""

    standing: WindowStatus
    span: Text
    spent: str
    reserved: str
    cap: str
    left: str
    forecast: str
    will_pass: bool
    bar: CapBar | None
    raised_by: str

    @property
    def category(self) -> str:
        return self.standing.window.category

    @property
    def purpose(self) -> Text:
        """Return what the category pays for."""
        return PURPOSES[self.category]

    @property
    def name(self) -> str:
        return self.standing.window.name

    @property
    def calls_query(self) -> str:
        """Return what the list of calls is asked for to show those of the window."""
        asked = {} if self.category == EVERY else {"category": self.category}
        return urlencode({**asked, self.standing.window.span: self.name})


def show_window(
    standing: WindowStatus,
    *,
    now: datetime,
    actors: Mapping[str, str],
) -> WindowView:
    """Return a window as the pages show it; `actors` names who raised caps."""
    totals, coming = standing.totals, standing.forecast(now)
    return WindowView(
        standing=standing,
        span=SPANS[standing.window.span],
        spent=cost_label(totals.spent),
        reserved=cost_label(totals.reserved),
        cap="" if totals.cap is None else cost_label(totals.cap),
        left="" if totals.left is None else cost_label(totals.left),
        forecast="" if coming is None else cost_label(coming),
        will_pass=coming is not None and totals.cap is not None and coming > totals.cap,
        bar=None if totals.cap is None else bar_of(standing, totals.cap),
        raised_by=actors.get(standing.raised_by, ""),
    )


def bar_of(standing: WindowStatus, cap: Decimal) -> CapBar:
    """Return the bar of a window with a cap."""
    totals = standing.totals
    label = _("%(category)s, %(window)s: %(spent)s spent and %(reserved)s reserved of %(cap)s") % {
        "category": totals.window.category,
        "window": totals.window.name,
        "spent": cost_label(totals.spent),
        "reserved": cost_label(totals.reserved),
        "cap": cost_label(cap),
    }
    tone = "alarm" if totals.is_exhausted else "watch" if standing.is_beyond_soft else "fill"
    soft = CAP_AT * settings.MINARA.minara_budget_soft_threshold
    return CapBar(
        label,
        width(totals.spent, cap),
        width(totals.committed, cap),
        soft,
        tone,
    )


def width(amount: Decimal, cap: Decimal) -> float:
    """Return an amount in the units of the bar; of a cap of nothing everything is full."""
    return min(float(CAP_AT * amount / cap), BAR_UNITS) if cap else CAP_AT
