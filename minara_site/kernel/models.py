"""The kernel's tables, room by room."""

from minara_site.kernel.audit_log.models import AuditEntry, AuditSeal
from minara_site.kernel.changes.models import Change, ChangeSet, Revision
from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.files.models import StoredFile, StoredPart
from minara_site.kernel.governance.models import CapabilitySwitch, CircuitBreaker, ShadowDecision
from minara_site.kernel.guard.models import Hold
from minara_site.kernel.idempotency.models import IdempotentCall
from minara_site.kernel.instance.models import InstanceMeta
from minara_site.kernel.jobs.models import BusyMark, JobRun, Lease, OwnerSchedule, WorkerSeen
from minara_site.kernel.limits.models import RateCount
from minara_site.kernel.llm.models import BudgetReservation, BudgetWindow, LlmUsage
from minara_site.kernel.market.models import ChangedPrices, PriceBar, PricePoint
from minara_site.kernel.proposals.models import ProposedChange

__all__ = [
    "AuditEntry",
    "AuditSeal",
    "BudgetReservation",
    "BudgetWindow",
    "BusyMark",
    "CapabilitySwitch",
    "Change",
    "ChangeSet",
    "ChangedPrices",
    "CircuitBreaker",
    "Hold",
    "IdempotentCall",
    "InstanceMeta",
    "JobRun",
    "Lease",
    "LlmUsage",
    "OwnerSchedule",
    "PriceBar",
    "PricePoint",
    "ProposedChange",
    "RateCount",
    "Revision",
    "Session",
    "ShadowDecision",
    "StoredFile",
    "StoredPart",
    "Turn",
    "WorkerSeen",
]
