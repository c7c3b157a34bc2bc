"""Reads of deployments, and the context of one as its last tick answered it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import structlog
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from learning_app.ledger.core import HELD, SKILL_KIND, SNAPSHOT_KIND, TRADE_KIND, EngineKind, TradeStatus
from learning_app.ledger.models import DecisionSnapshot, Deployment, SkillVersion, Trade
from learning_app.lessons.models import ReflectionNote
from learning_app.lessons.selectors import find_note, without_refused
from learning_app.ticks.core import MAX_REJECTIONS, REJECTIONS_FOR, Proposal, RiskState, State, risk_state
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.core.context import Context, LastDecision, OpenView, assemble_context
from minara_site.access.models import User
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.kernel.guard.selectors import find_open_holds, find_refused, hold_record
from minara_site.kernel.market.core.values import read_amount
from minara_site.kernel.ownership import Owner
from minara_site.web.values import plain_number

NEWEST_TRADE = ("-entry_tick_at", "-number")

log = structlog.get_logger(__name__)


def list_deployments(*, owner: Owner) -> "QuerySet[Deployment]":
    """Return the deployments of an owner with skill and state, unordered."""
    return Deployment.objects.for_owner(owner).select_related("version__skill", "state")


def get_deployment(*, owner: Owner, uid: str) -> Deployment:
    """Return one deployment. Raises NotFound also for another owner's."""
    return or_not_found(list_deployments(owner=owner).filter(uid=uid).first(), _("There is no such deployment."))


def are_rules_held(version: SkillVersion) -> bool:
    """Say whether the guard keeps strategy and avoid rules from the agent."""
    return version.held_at is not None or bool(find_refused(SKILL_KIND, [version]))


def last_snapshot(deployment: Deployment) -> DecisionSnapshot | None:
    """Return the last tick of a deployment that is kept, None before the first."""
    rows = DecisionSnapshot.objects.filter(deployment=deployment).select_related("version")
    snapshot: DecisionSnapshot | None = rows.order_by("-tick_at").first()
    return snapshot


def get_snapshot(*, owner: Owner, snapshot_id: int) -> DecisionSnapshot:
    """Return one tick with its deployment. Raises NotFound also for another owner's."""
    snapshots = DecisionSnapshot.objects.for_owner(owner).select_related("deployment", "version", "owner")
    return or_not_found(snapshots.filter(pk=snapshot_id).first(), _("There is no such tick, or it is kept no more."))


def snapshot_before(snapshot: DecisionSnapshot) -> DecisionSnapshot | None:
    """Return the tick before a tick, whose answer stood before the agent when it decided; None for the first."""
    earlier = DecisionSnapshot.objects.filter(deployment=snapshot.deployment_id, tick_at__lt=snapshot.tick_at)
    before: DecisionSnapshot | None = earlier.select_related("version").order_by("-tick_at").first()
    return before


class DatabaseMemory:
    """What a deployment's context is read from, as it stood at a tick; `open_rows` are trades that are loaded already.

    A text that is held now is held, whatever it was then.
    """

    def __init__(
        self,
        snapshot: DecisionSnapshot,
        version: SkillVersion,
        open_rows: Sequence[Trade] | None = None,
    ) -> None:
        self.snapshot, self.version, self.open_rows = snapshot, version, open_rows
        self.trades = Trade.objects.filter(deployment=snapshot.deployment_id)

    def last_decision(self) -> LastDecision:
        """Return what the tick says of its decision."""
        row, said = self.snapshot, self.snapshot.proposed_action
        return LastDecision(
            None if said is None else read_proposal(said, row.reason),
            row.engine_kind,
            row.engine_rule,
            bool(row.held_at or find_refused(SNAPSHOT_KIND, [row])),
        )

    @cached_property
    def are_rules_held(self) -> bool:
        """Whether the guard keeps strategy and avoid rules from the agent."""
        return are_rules_held(self.version)

    def recent_closed(self, limit: int) -> list[tuple[Trade, bool]]:
        """Return the trades that were closed then. One query."""
        rows = self.trades.filter(status=TradeStatus.CLOSED, exit_tick_at__lte=self.snapshot.tick_at)
        return with_held(list(rows.order_by(*NEWEST_TRADE)[:limit]))

    def open_with_mfe_mae(self) -> list[OpenView]:
        """Return the trades that were open then, with their excursions of then. At most one query."""
        marks = self.snapshot.memory["open"]
        rows = self.open_rows
        if rows is None:
            ends = Q(exit_tick_at__isnull=True) | Q(exit_tick_at__gt=self.snapshot.tick_at)
            rows = list(self.trades.filter(ends, symbol__in=marks, entry_tick_at__lte=self.snapshot.tick_at))
        rows = sorted(rows, key=lambda row: (row.entry_tick_at, row.number), reverse=True)
        views = []
        for row, is_held in with_held(rows):
            mark, mfe, mae = map(Decimal, marks[row.symbol])
            views.append(OpenView(row, mark, mfe, mae, is_held))
        return views

    def active_lessons(self) -> str | None:
        """Return the lessons that stood in this answer. At most one query."""
        name = self.snapshot.lessons_hash
        if name is None or name == HELD:
            return name
        note = find_note(self.snapshot.deployment_id, name)
        return (HELD if note.held_at else note.lessons_text) if note else None

    def risk_state(self) -> RiskState:
        """Return the session up to then. One query."""
        at, counters = self.snapshot.tick_at, self.snapshot.memory["state"]
        rejected = DecisionSnapshot.objects.filter(
            deployment=self.snapshot.deployment_id,
            engine_kind=EngineKind.REJECTED,
            tick_at__gt=at - REJECTIONS_FOR,
            tick_at__lte=at,
        )
        rules = list(rejected.order_by("-tick_at").values_list("engine_rule", flat=True)[:MAX_REJECTIONS])
        state = State(
            day_start_equity_usd=Decimal(counters["day_start_equity_usd"]),
            executed_today=counters["executed_today"],
            pnl_today_usd=Decimal(counters["pnl_today_usd"]),
            losing_closes=counters["losing_closes"],
        )
        return risk_state(state, rules[::-1])

    def read(self, section: str, render: Callable[[], str]) -> str:
        """Return a section; what cannot be read is logged, and empty."""
        try:
            return render()
        except Exception:  # whatever it is, the agent gets the rest
            log.exception("context_section_failed", deployment=self.snapshot.deployment_id, section=section)
            return ""


def with_held(rows: Sequence[Trade]) -> list[tuple[Trade, bool]]:
    """Return trades with whether their reasons are held, or refused by today's rules."""
    refused = find_refused(TRADE_KIND, [row for row in rows if not row.held_at])
    return [(row, bool(row.held_at) or row.pk in refused) for row in rows]


def load_context(
    snapshot: DecisionSnapshot,
    version: SkillVersion,
    open_rows: Sequence[Trade] | None = None,
) -> Context:
    """Return what a tick answered, with the words that are not held now. Four queries at most."""
    memory = DatabaseMemory(snapshot, version, open_rows)
    return assemble_context(memory, SkillConfig(**version.config), at=snapshot.tick_at)


def read_proposal(said: dict[str, Any], reason: str) -> Proposal:
    """Return a proposal as a snapshot stores it."""
    size = said.get("size_usd")
    return Proposal(**{**said, "size_usd": None if size is None else read_amount(size)}, reason=reason)


def load_last_context(deployment: Deployment) -> Context:
    """Return what the next decision of a deployment reads."""
    snapshot = last_snapshot(deployment)
    return load_context(snapshot, snapshot.version) if snapshot else first_context(deployment.version)


def first_context(version: SkillVersion) -> Context:
    """Return what a decision reads before the first tick: the rules alone."""
    return assemble_context(DatabaseMemory(DecisionSnapshot(), version), SkillConfig(**version.config), at=None)


def mask_context(context: Context) -> Context:
    """Return a context with secrets masked, for another reader than its owner."""
    return replace(
        context,
        sections={name: mask(text) for name, text in context.sections.items()},
        segments={name: mask(text) if text else text for name, text in context.segments.items()},
    )


def load_risk_state(deployment: Deployment) -> RiskState:
    """Return the session of a deployment as its next decision reads it."""
    snapshot = last_snapshot(deployment)
    return DatabaseMemory(snapshot, snapshot.version).risk_state() if snapshot else risk_state(State(), ())


def deployment_record(row: Deployment, reader: User) -> dict[str, Any]:
    """Return a deployment as the API answers it."""
    return deployment_records([row], reader)[0]


def deployment_records(rows: Sequence[Deployment], reader: User) -> list[dict[str, Any]]:
    """Return deployments as the API answers them. Two queries at most, where skills are held or judged anew."""
    versions = [row.version for row in rows]
    held = [version.pk for version in versions if version.held_at]
    holds = find_open_holds(SKILL_KIND, held) if held else {}
    unread = find_refused(SKILL_KIND, [version for version in versions if not version.held_at]).union(held)
    records = []
    for row in rows:
        version = masked_for(reader, row.version)
        config = version.config | {"strategy": "", "avoid": []} if version.pk in unread else version.config
        name = version.skill.name if row.owner_id == reader.pk else mask(version.skill.name)
        hold = hold_record(holds[version.pk]) if version.pk in holds else None
        records.append(
            {
                "id": row.uid,
                "name": masked_for(reader, row).name,
                "skill": {"name": name, "version": version.number, "config": config, "held": hold},
                "created_at": row.created_at,
                "tick_at": row.state.tick_at,
                "equity_usd": plain_number(row.state.equity_usd),
            }
        )
    return records


def note_records(rows: Sequence[ReflectionNote]) -> list[dict[str, Any]]:
    """Return revisions of lessons as the API answers them; what is held, or refused by today's rules, has no text."""
    return [
        {
            "id": row.pk,
            "text": None if row.held_at else row.lessons_text,
            "content_hash": row.content_hash,
            "status": row.status,
            "created_at": row.generated_at,
        }
        for row in without_refused(rows)
    ]
