"""`/v1/roles` and `/v1/role-memory`: declared roles, their decisions and lessons. Shapes: the contract."""

from datetime import datetime
from typing import Annotated, Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Query, Schema, Status
from pydantic import AfterValidator, Field

from memory_app.index.core.parser import MAX_QUERY_CHARS
from memory_app.index.selectors import limited, narrow_entries
from memory_app.roles.core import DECISION_KIND, Classification, SkipReason, Status as EntryStatus, Trigger
from memory_app.roles.core.moments import as_utc
from memory_app.roles.models import RoleMemory
from memory_app.roles.records import entry_record, role_record
from memory_app.roles.registry import registry
from memory_app.roles.schemas import NewDecision
from memory_app.roles.selectors import count_pending, find_refused, list_entries, list_lessons
from memory_app.roles.services.outcome import apply_due_marks, mark_outcome, open_entry
from memory_app.roles.services.record import DecisionDraft, record_decision
from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.core.symbols import normalise_symbol
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.guard.selectors import written_record
from minara_site.kernel.market.outcome import Direction, Outcome
from minara_site.kernel.market.symbols import describe_asset, describe_assets
from minara_site.shell.answers import answer_page
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.keyset import Order, Page, paginate, read_number, write_number
from minara_site.web.schemas import Data, HeldOut, Items, OwnerQuery, PageQuery, Repeated, Strict, SymbolOut

router = ApiRouter(tags=["roles"])

NEWEST = Order("decided_at")
NEWEST_OUTCOME = Order("outcome_at")


class SkillOut(Schema):
    """The skill that owns a role."""

    id: str
    label: str


class ProbeOut(Schema):
    """How the outcome is found: `price_delta`, `custom` or `manual`, with what belongs to that kind."""

    kind: str
    asset_field: str | None = None
    window_hours: float | None = None
    tolerance_hours: float | None = None
    probe_id: str | None = None


class PostHocOut(Schema):
    """Which evidence is collected: `refetch_source`, `news_snapshot` or `onchain_snapshot`."""

    kind: str
    tool: str | None = None
    param_mapper: str | None = None
    asset_field: str | None = None


class PolicyOut(Schema):
    """When decisions are judged, by what, and with which evidence."""

    outcome_probe: ProbeOut
    min_age_hours: float
    max_age_hours: float
    triggers: list[Trigger]
    cron_expr: str | None
    post_hoc_probes: list[PostHocOut]


class RoleOut(Schema):
    """A declared role; `pending` counts the decisions of the owner that wait."""

    id: str
    label: str
    skill: SkillOut
    failure_modes: list[str]
    policy: PolicyOut
    pending: int


class RoleMemoryOut(Schema):
    """A decision of a role, and what came of it. What the guard holds is there without its words."""

    id: int
    role_id: str
    inputs: dict[str, Any]
    decision: str
    decided_at: datetime
    status: EntryStatus
    outcome: Outcome | None
    pnl_pct: float | None
    class_: Annotated[Classification | None, Field(alias="class")]
    narrative: str | None
    lesson: str | None
    reflected_at: datetime | None
    asset: str | None
    asset_text: str | None
    symbol: SymbolOut | None
    direction: Direction | None
    outcome_at: datetime | None
    price_corrected: bool
    skip_reason: SkipReason | None
    backdated: bool
    held: bool
    lesson_held: bool


class RecordedOut(Schema):
    """The id of a recorded decision, and what its asset was read as."""

    id: int
    symbol: SymbolOut | None


class RecordedHeldOut(RecordedOut):
    """The id of a decision that the guard holds, and why."""

    held: HeldOut


class RepeatedOut(Repeated, RecordedOut):
    """A decision that this key recorded before."""


class RepeatedHeldOut(Repeated, RecordedHeldOut):
    """A decision that this key recorded before, and why the guard holds it."""


class MarkedOutcome(Strict):
    """What came of a decision of a manual role; `pnl_pct` is in percent, in its direction."""

    correct: Annotated[bool, Field(strict=True)]
    pnl_pct: float | None = None
    note: str = ""


class EntryQuery(PageQuery):
    """Filters of the list."""

    q: Annotated[
        str | None,
        Field(max_length=MAX_QUERY_CHARS, description="What to find in asset, decision, narrative and lesson."),
    ] = None
    role: Annotated[str | None, Field(max_length=120)] = None
    asset: Annotated[str | None, Field(max_length=32)] = None
    status: EntryStatus | None = None
    class_: Annotated[Classification | None, Field(alias="class")] = None
    outcome: Outcome | None = None


class LessonQuery(PageQuery):
    """Which lessons: those that a decision made at `as_of` may know; now, when it is left out."""

    as_of: Annotated[datetime, AfterValidator(as_utc)] | None = None


@router.get("/roles", "List roles", Act.ROLES_READ, Data[Items[RoleOut]])
def list_roles(request: PageRequest, query: Query[PageQuery]) -> dict[str, Any]:
    """List the roles that skills declare, by id."""
    owner, declared = request.principal.reads(Act.ROLES_READ, query.owner), registry().all()
    first = read_number(query.cursor, scope="v1/roles") or 0
    last = first + query.limit
    pending = count_pending(owner=owner)
    items = [role_record(each, pending=pending.get(each.id, 0)) for each in declared[first:last]]
    more = write_number(last, scope="v1/roles") if last < len(declared) else None
    return {"data": {"items": items, "next_cursor": more}}


@router.get(
    "/roles/{role_id}/lessons",
    "List the lessons of a role",
    Act.ROLES_READ,
    Data[Items[RoleMemoryOut]],
    by_alias=True,
)
def lessons(
    request: PageRequest,
    role_id: str,
    query: Query[LessonQuery],
) -> dict[str, Any]:
    """List decisions that taught something, newest outcome first; only those whose outcome was known by `as_of`.

    A page is shorter by what the guard's newest rules refuse.
    """
    now = timezone.now()
    if registry().find(role_id) is None:
        raise NotFound(_("There is no such role. `GET /v1/roles` names them."))
    owner = request.principal.reads(Act.ROLES_READ, query.owner)
    rows = list_lessons(
        owner=owner,
        role_id=role_id,
        as_of=min(query.as_of or now, now),
    )
    page = paginate(
        rows,
        NEWEST_OUTCOME,
        cursor=query.cursor,
        limit=query.limit,
        scope=f"v1/lessons/{role_id}",
    )
    return answer_decisions(request, page)


@router.get(
    "/role-memory",
    "List decisions",
    Act.ROLE_MEMORY_READ,
    Data[Items[RoleMemoryOut]],
    by_alias=True,
)
def list_(request: PageRequest, query: Query[EntryQuery]) -> dict[str, Any]:
    """List decisions, newest first; `q` narrows to those that the search finds, held ones are left out.

    A page is shorter by what the guard's newest rules refuse.
    """
    owner = request.principal.reads(Act.ROLE_MEMORY_READ, query.owner)
    apply_due_marks(now=timezone.now())
    rows: QuerySet[Any] = list_entries(
        owner=owner,
        role_id=query.role,
        asset=(normalise_symbol(query.asset) or query.asset) if query.asset else None,
        status=query.status,
        classification=query.class_,
        outcome=query.outcome,
    )
    if query.q:
        rows = narrow_entries(rows, owner=owner, query=query.q)
    with limited(query.q):
        found = paginate(
            rows,
            NEWEST,
            cursor=query.cursor,
            limit=query.limit,
            scope="v1/role-memory",
        )
    return answer_decisions(request, found)


@router.get(
    "/role-memory/{int:entry_id}",
    "Read a decision",
    Act.ROLE_MEMORY_READ,
    Data[RoleMemoryOut],
    by_alias=True,
)
def read(
    request: PageRequest,
    entry_id: int,
    query: Query[OwnerQuery],
) -> dict[str, Any]:
    """Read one decision; what the guard holds of it is there without its words."""
    owner = request.principal.reads(Act.ROLE_MEMORY_READ, query.owner)
    entry = open_entry(request.principal, owner, entry_id, now=timezone.now())
    return shown_alone(request, entry)


@router.post(
    "/role-memory",
    "Record a decision of a role",
    Act.ROLE_MEMORY_WRITE,
    {
        200: Data[RepeatedOut | RepeatedHeldOut],
        201: Data[RecordedOut],
        202: Data[RecordedHeldOut],
    },
)
def create(request: PageRequest, payload: NewDecision) -> Status[dict[str, Any]]:
    """Record a decision; its outcome and its lesson come later. 202 says that the guard holds it.

    200 says that this key recorded an equal one within the last ten minutes.
    """
    now = timezone.now()
    entry, is_new = record_decision(
        owner_id=request.principal.owner.pk,
        draft=DecisionDraft(payload.role_id, payload.inputs, payload.decision, payload.decided_at),
        actor=request.principal.actor,
        origin="",
        is_replay=request.principal.is_operator,
        now=now,
    )
    record = written_record(DECISION_KIND, entry, is_new=is_new) | {"symbol": describe_asset(entry, now=now)}
    return Status(200 if not is_new else 202 if "held" in record else 201, {"data": record})


@router.post(
    "/role-memory/{int:entry_id}/outcome",
    "Mark the outcome of a decision",
    Act.ROLE_OUTCOME,
    Data[RoleMemoryOut],
    by_alias=True,
)
def mark(
    request: PageRequest,
    entry_id: int,
    payload: MarkedOutcome,
    query: Query[OwnerQuery],
) -> dict[str, Any]:
    """Say what came of a decision of a manual role, once: a right one closes, a wrong one waits for its reflection."""
    entry = mark_outcome(
        owner=request.principal.reads(Act.ROLE_OUTCOME, query.owner),
        entry_id=entry_id,
        correct=payload.correct,
        pnl_pct=payload.pnl_pct,
        note=payload.note,
        **done_by(request),
    )
    return shown_alone(request, entry)


def shown_alone(request: PageRequest, entry: RoleMemory) -> dict[str, Any]:
    """Answer one decision as this caller may read it."""
    is_refused, symbol = bool(find_refused([entry])), describe_asset(entry, now=timezone.now())
    return {"data": entry_record(masked_for(request.principal.owner, entry), symbol, is_refused=is_refused)}


def answer_decisions(request: PageRequest, page: Page[RoleMemory]) -> dict[str, Any]:
    """Answer a page of decisions."""
    read_as = describe_assets(page.items, now=timezone.now())
    return answer_page(
        request,
        page,
        kind="role_memory",
        records=lambda rows: [entry_record(row, read_as[row.pk]) for row in rows],
        find_refused=find_refused,
    )
