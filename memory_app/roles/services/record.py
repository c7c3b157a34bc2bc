"""Recording a decision of a role. Source: S0 (role memory entry), decisions (whose word counts)."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.roles.core import DECISION_KIND
from memory_app.roles.core.declarations import Custom, DeclaredRole, PriceDelta
from memory_app.roles.core.inputs import MAX_CHARS, MAX_DEPTH, Problem, inputs_problem
from memory_app.roles.core.moments import as_utc
from memory_app.roles.core.prompts import MAX_DECISION_CHARS
from memory_app.roles.models import RoleMemory
from memory_app.roles.probes.custom import custom_probes
from memory_app.roles.registry import registry
from memory_app.roles.subject import find_asset, find_direction, read_asset, read_direction
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.errors import FieldError, Invalid, invalid_field
from minara_site.kernel.events import role_memory_changed, send_after_commit
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.selectors import list_repeated
from minara_site.kernel.guard.services import place_hold
from minara_site.kernel.market.outcome import LATE
from minara_site.kernel.ownership import owner_locked
from minara_site.kernel.plain_text import clean_text

CLOCKS_DIFFER = timedelta(minutes=5)
PROBLEMS: dict[Problem, Promise] = {
    Problem.NO_OBJECT: gettext_lazy("Send inputs as a JSON object."),
    Problem.TOO_DEEP: gettext_lazy("Keep inputs at most %(depth)d levels deep."),
    Problem.NAMES: gettext_lazy("Name each input with letters, digits and underscores, at most 64."),
    Problem.KINDS: gettext_lazy("Inputs may hold text, numbers, true, false, null, lists and objects only."),
    Problem.NUL: gettext_lazy("Remove the NUL character; it cannot be stored."),
    Problem.TOO_LONG: gettext_lazy("Keep inputs under %(chars)d characters."),
}


@dataclass(frozen=True, slots=True)
class DecisionDraft:
    """A decision that is to be recorded. `decided_at` None is now; without a time zone it is UTC."""

    role_id: str
    inputs: dict[str, Any]
    decision: str
    decided_at: datetime | None = None


def record_decision(
    *,
    owner_id: int,
    draft: DecisionDraft,
    actor: str,
    origin: str,
    is_replay: bool,
    now: datetime,
    reasoning: str = "",
) -> tuple[RoleMemory, bool]:
    """Return the decision of a declared role and whether it is new; a key that repeats one gets that one.

    One that the guard refuses is held. `is_replay` says that an operator recorded it, so that an earlier `decided_at`
    counts. Raises Invalid.
    """
    entry = build_entry(
        owner_id=owner_id,
        draft=draft,
        actor=actor,
        origin=origin,
        is_replay=is_replay,
        now=now,
    )
    verdict = guard.judge(entry.guarded_text)
    entry.rules_version = verdict.rules_version
    entry.held_at = now if verdict.is_held else None
    with owner_locked(owner_id):
        repeated = list_repeated(DECISION_KIND, entry, ("role_id", "content_hash")).first()
        if repeated is not None:
            return repeated, False
        entry.save(force_insert=True)
        if verdict.is_held:
            place_hold(
                kind=DECISION_KIND,
                object_id=entry.pk,
                owner_id=owner_id,
                text=entry.guarded_text,
                verdict=verdict,
                actor=actor,
                now=now,
            )
        record_audit(
            now=now,
            actor=actor,
            tool_call="role_decision_recorded",
            owner_id=owner_id,
            reasoning=reasoning,
            details={
                "id": entry.pk,
                "role": entry.role_id,
                "sha256": content_digest(entry.decision),
                **({"held": 1} if verdict.is_held else {}),
                **({"backdated": 1} if entry.is_backdated else {}),
            },
        )
        send_after_commit(role_memory_changed, owner_id=owner_id, entry_ids=(entry.pk,))
    return entry, True


def build_entry(
    *,
    owner_id: int,
    draft: DecisionDraft,
    actor: str,
    origin: str,
    is_replay: bool,
    now: datetime,
) -> RoleMemory:
    """Return the unsaved row of a draft, every field cleaned. Raises Invalid."""
    declared = read_role(draft.role_id)
    decision = clean_text(
        draft.decision,
        field="decision",
        max_chars=MAX_DECISION_CHARS,
    )
    problem = inputs_problem(draft.inputs)
    if problem:
        raise invalid_field("inputs", PROBLEMS[problem] % {"depth": MAX_DEPTH, "chars": MAX_CHARS})
    inputs = draft.inputs
    check_inputs(inputs, declared)
    decided_at = clean_moment(draft.decided_at, now=now)
    return RoleMemory(
        owner_id=owner_id,
        role_id=declared.id,
        skill_id=declared.skill.id,
        asset=find_asset(inputs, asset_field(declared)),
        direction=find_direction(inputs) or "",
        inputs=inputs,
        decision=decision,
        decided_at=decided_at,
        is_backdated=not is_replay and now - decided_at > LATE,
        actor=actor,
        origin=origin,
        content_hash=content_hash(declared.id, inputs, decision),
        created_at=now,
    )


def read_role(role_id: str) -> DeclaredRole:
    """Return the role. Raises Invalid, which names the known ones, for one that no skill declares."""
    declared = registry().find(role_id)
    if declared is None:
        problem = _("No skill declares this role. Known are: %(known)s.") % {"known": registry().known()}
        raise Invalid(
            problem,
            code="unknown_role",
            errors=(FieldError("role_id", problem),),
        )
    return declared


def check_inputs(inputs: Mapping[str, Any], declared: DeclaredRole) -> None:
    """Raise Invalid unless the inputs hold what the role's outcome will be looked up with."""
    probe = declared.policy.outcome_probe
    if isinstance(probe, PriceDelta):
        read_asset(inputs, probe.asset_field)
        read_direction(inputs)
    elif isinstance(probe, Custom):
        check = custom_probes()[probe.probe_id].check
        if check is not None:
            check(inputs)


def asset_field(declared: DeclaredRole) -> str:
    """Return the name of the input that is the asset."""
    probe = declared.policy.outcome_probe
    return probe.asset_field if isinstance(probe, PriceDelta) else "asset"


def clean_moment(decided_at: datetime | None, *, now: datetime) -> datetime:
    """Return when it was decided. Raises Invalid for the future; clocks may differ by five minutes."""
    if decided_at is None:
        return now
    try:
        moment = as_utc(decided_at)
    except ValueError:
        raise invalid_field("decided_at", _("Give decided_at as a moment after 1970.")) from None
    if moment - now > CLOCKS_DIFFER:
        raise invalid_field("decided_at", _("decided_at lies in the future. Record a decision once it is made."))
    return moment


def content_hash(role_id: str, inputs: Mapping[str, Any], decision: str) -> str:
    """Return the SHA-256 of what was decided from what, as 64 hex digits."""
    based_on = json.dumps(
        inputs,
        sort_keys=True,
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return hashlib.sha256(f"{role_id}\0{based_on}\0{decision}".encode()).hexdigest()
