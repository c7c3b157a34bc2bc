"""What the worker does for roles: apply marks, start what is due, reflect, judge again. Source: S0 (triggers)."""

from datetime import datetime
from typing import Any

from memory_app.roles.core import Trigger
from memory_app.roles.services.outcome import apply_due_marks, request_next_application
from memory_app.roles.services.reflect import reflect_role
from memory_app.roles.services.rejudge import mark_changed
from memory_app.roles.services.triggers import start_due_roles
from minara_site.kernel.jobs.services import Claim


def start_due(*, now: datetime) -> dict[str, int]:
    """Apply the marks that can no longer be undone, then start a run for every role whose time has come.

    Running it again finds neither.
    """
    applied = apply_due_marks(now=now)
    request_next_application(now=now)
    return {"applied": applied, "started": start_due_roles(now=now)}


def rejudge(*, now: datetime) -> dict[str, int]:
    """Mark the decisions of which the price was corrected; running it again changes nothing."""
    return {"marked": mark_changed(now=now)}


def reflect(
    *,
    role_id: str,
    trigger: str,
    now: datetime,
    owner_id: int | None = None,
    is_rest: bool = False,
    claim: Claim | None = None,
) -> dict[str, Any]:
    """Sweep a role; running it again finds what is still due, and a second one at the same time drops."""
    return reflect_role(
        role_id,
        trigger=Trigger(trigger),
        owner_id=owner_id,
        is_rest=is_rest,
        claim=claim,
        now=now,
    ).as_dict()
