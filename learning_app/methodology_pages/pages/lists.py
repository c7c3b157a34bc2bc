"""How methodologies are listed: tabs, filters, orders, and what a row shows."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from learning_app.cases.core.proposing import CASES_ORIGIN
from learning_app.methodologies.core import METHODOLOGY_KIND
from learning_app.methodologies.kinds import DISCARDED
from learning_app.methodologies.models import Methodology
from learning_app.methodologies.querysets import MethodologyQuerySet
from learning_app.methodologies.seeding import SEED_ORIGIN
from learning_app.methodologies.selectors import court_record, find_injected, list_readable
from learning_app.methodology_pages.pages.labels import state_label
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.config import CourtMode
from minara_site.kernel.core.assets import GROUPS, AssetClass, AssetGroup
from minara_site.kernel.core.vocabulary import IMPORT_ORIGIN, IMPORTED, Source
from minara_site.kernel.counts import RowCount, count_each
from minara_site.kernel.guard.selectors import find_refused
from minara_site.kernel.market.outcome import Direction
from minara_site.web.filters import Filter, FilterKind, Rows, Text, choice, search_in
from minara_site.web.keyset import Order
from minara_site.web.lists import BulkAction, Column, Empty, ListSpec, Sort, newest_first
from minara_site.web.market_labels import CLASS_LABELS, DIRECTIONS, GROUP_LABELS

ALL = "all"
TABS: dict[str, tuple[Text, Callable[[MethodologyQuerySet], MethodologyQuerySet]]] = {
    ALL: (gettext_lazy("All"), lambda rows: rows),
    "prompts": (gettext_lazy("In prompts"), MethodologyQuerySet.injected),
    "near": (gettext_lazy("Near graduation"), MethodologyQuerySet.near_graduation),
    "quarantined": (gettext_lazy("Quarantined"), MethodologyQuerySet.quarantined),
    "person": (gettext_lazy("Needs a person"), MethodologyQuerySet.needs_person),
}
MAX_TAB = 1_000
"""Up to so many rows a tab says how many it has."""


def in_groups(rows: Rows, groups: Collection[str]) -> Rows:
    """Keep what is for these groups of assets."""
    return rows.filter(asset_class__in=[each for group in groups for each in GROUPS[AssetGroup(group)]])


METHODOLOGIES = ListSpec(
    name="methodologies",
    caption=gettext_lazy("Methodologies"),
    row="learning_app/methodologies/_row.html",
    columns=(
        Column(gettext_lazy("Methodology")),
        Column(gettext_lazy("Asset class")),
        Column(gettext_lazy("Direction")),
        Column(gettext_lazy("Right"), sorts=("surest", "used"), numeric=True),
        Column(gettext_lazy("State")),
        Column(gettext_lazy("Marks")),
        Column(gettext_lazy("Created"), numeric=True),
    ),
    sorts=(
        newest_first("created_at"),
        Sort("surest", gettext_lazy("surest first"), Order("confidence")),
        Sort("used", gettext_lazy("most used first"), Order("times_used")),
    ),
    filters=(
        search_in(gettext_lazy("Search name and text"), "name", "methodology"),
        Filter(
            "state",
            gettext_lazy("State"),
            FilterKind.TABS,
            choices=[(name, label) for name, (label, _keep) in TABS.items()],
            default=ALL,
            apply=lambda rows, name: TABS[name][1](rows),  # type: ignore[arg-type]
        ),
        Filter(
            "group",
            gettext_lazy("Asset group"),
            FilterKind.CHOICE,
            choices=GROUP_LABELS,
            apply=in_groups,
        ),
        choice(
            "class",
            gettext_lazy("Asset class"),
            CLASS_LABELS,
            lookup="asset_class",
        ),
        choice("direction", gettext_lazy("Direction"), DIRECTIONS),
    ),
    bulk=(
        BulkAction(
            "quarantine",
            gettext_lazy("Quarantine"),
            "held",
            "q",
            act=Act.METHODOLOGY_DECIDE,
        ),
    ),
    bulk_url="methodologies:bulk",
    has_actions=False,
    empty=Empty(
        "method",
        gettext_lazy("No methodologies yet"),
        gettext_lazy(
            "“minara learning seed” stores twenty well-known ones, and agents propose their own by "
            "POST /v1/methodologies. Each begins in quarantine and reaches prompts by its outcomes."
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class MethodologyRow:
    """A methodology as lists and its page show it. `is_refused`: today's guard rules refuse a text that is not held."""

    row: Methodology
    is_injected: bool
    is_refused: bool

    @property
    def url(self) -> str:
        return reverse("methodologies:one", args=[self.row.uid])

    @property
    def name(self) -> str:
        """Return its name; the words of a discarded one go while its cases stay."""
        return self.row.name or _("Methodology whose text was deleted")

    @property
    def group(self) -> AssetGroup:
        return AssetClass(self.row.asset_class).group

    @property
    def direction(self) -> Text:
        return DIRECTIONS[Direction(self.row.direction)]

    @property
    def source(self) -> str:
        """Return the badge of where it comes from: files, a model that read cases, or an agent."""
        origin = self.row.origin
        if origin == SEED_ORIGIN or origin.startswith(IMPORT_ORIGIN):
            return IMPORTED
        return Source.INFERRED if origin.startswith(CASES_ORIGIN) else Source.AGENT_RECORDED

    @property
    def state(self) -> tuple[str, Text]:
        """Return the shape of its state badge, and its word."""
        return state_label(self.row)

    @property
    def bar_label(self) -> str:
        """Return what the bar of its lower bound shows."""
        bounds = {"bound": f"{self.row.confidence:.3f}", "bar": f"{settings.MINARA.injection_threshold:.2f}"}
        return _("Lower bound %(bound)s; the bar is %(bar)s") % bounds

    @property
    def bar_width(self) -> str:
        """Return the lower bound in percent."""
        return f"{100 * self.row.confidence:.1f}"

    @property
    def bar_tick(self) -> str:
        """Return the bar of graduation in percent."""
        return f"{100 * settings.MINARA.injection_threshold:.1f}"

    @property
    def marks(self) -> list[Text]:
        """Return what the court found, in words; whether it is graduated its state says."""
        marks = court_record(self.row)["marks"]
        return [label for name, label in MARKS.items() if marks[name]]

    @property
    def is_decaying(self) -> bool:
        """Whether the court warns that its skill is gone."""
        return settings.MINARA.methodology_court is not CourtMode.OFF and self.row.decay_at is not None


MARKS: dict[str, Text] = {
    "beats_chance": gettext_lazy("better than chance"),
    "survives_store": gettext_lazy("holds among all methods"),
}


def list_for(principal: Principal) -> MethodologyQuerySet:
    """Return what a reader may list: operators what is held too, no one what was discarded."""
    if not principal.may(Act.METHODOLOGY_DECIDE):
        return list_readable()
    return Methodology.objects.exclude(dedup_key__startswith=DISCARDED)


def shape_rows(rows: Sequence[Methodology], principal: Principal) -> list[MethodologyRow]:
    """Return rows as the list shows them, the secrets of refused texts masked. Three queries at most.

    What today's rules refuse is for operators alone.
    """
    may_decide = principal.may(Act.METHODOLOGY_DECIDE)
    refused = find_refused(METHODOLOGY_KIND, [row for row in rows if not row.held_at])
    injected = find_injected(rows, owner=None if may_decide else principal.owner)
    for row in rows:
        if row.held_at or row.pk in refused:
            row.mask()
    shown = [MethodologyRow(row, row.pk in injected, row.pk in refused) for row in rows]
    return [each for each in shown if not each.is_refused or may_decide]


def count_tabs() -> dict[str, int]:
    """Return how many rows are behind the tabs that say what is to be done; the others would count all. One query."""
    rows = Methodology.objects.all()
    prompts, near, *person = count_each(
        rows.injected(),
        rows.near_graduation(),
        rows.unread(),
        rows.kept_back(),
        limit=MAX_TAB,
    )
    counts = {"prompts": prompts, "near": near, "person": RowCount.together(person)}
    return {name: count.number for name, count in counts.items() if count.is_exact}
