"""Deployments and the versions of their skills. Sources: S4, trades.md ("A deployment again")."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from learning_app.ledger.core import DEPLOYMENT_KIND, SKILL_KIND
from learning_app.ledger.models import Deployment, Skill, SkillVersion
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.models import AgentState
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.changes.services import name_set, record, watch
from minara_site.kernel.errors import invalid_field
from minara_site.kernel.guard.core import judge
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.ownership import owner_locked


def deploy(
    *,
    owner_id: int,
    name: str,
    skill_name: str,
    config: SkillConfig,
    actor: str,
    now: datetime,
    reasoning: str = "",
) -> tuple[Deployment, bool]:
    """Return the deployment of this name and whether it is new; another configuration is a new version of its skill.

    Raises Invalid for a name that the guard refuses: names are on pages, and nobody can release one.
    """
    for field, text in (("name", name), ("skill", skill_name)):
        if judge(text).is_held:
            raise invalid_field(field, _("Choose another name: this one reads like an instruction or a secret."))
    with owner_locked(owner_id):
        skill, _is_new = Skill.objects.get_or_create(owner_id=owner_id, name=skill_name, defaults={"created_at": now})
        row: Deployment | None = (
            Deployment.objects.filter(owner_id=owner_id, name=name).select_related("version").first()
        )
        version = find_or_add_version(skill, config, row.version if row else None, actor=actor, now=now)
        if row and row.version == version:
            return row, False
        is_new = row is None
        row = row or Deployment(owner_id=owner_id, name=name, actor=actor, created_at=now)
        watched = None if is_new else watch(DEPLOYMENT_KIND, [row])
        row.version = version
        row.save()
        AgentState.objects.get_or_create(deployment=row)
        made = record("deployment_changed", watched, actor=actor, at=now) if watched else None
        record_audit(
            now=now,
            actor=actor,
            tool_call="deployment_created" if is_new else "deployment_changed",
            owner_id=owner_id,
            reasoning=reasoning,
            details={"id": row.uid, "version": version.number, "sha256": content_digest(version.guarded_text)}
            | name_set(made),
        )
    return row, is_new


def find_or_add_version(
    skill: Skill,
    config: SkillConfig,
    in_force: SkillVersion | None,
    *,
    actor: str,
    now: datetime,
) -> SkillVersion:
    """Return the version that is in force, or the newest of the skill, where it says this; else a new one.

    Needs the owner's lock.
    """
    said: dict[str, Any] = config.model_dump(mode="json")
    newest: SkillVersion | None = SkillVersion.objects.filter(skill=skill).order_by("-number").first()
    for known in (in_force, newest):
        if known and known.skill_id == skill.pk and known.config == said:
            return known
    version = SkillVersion(
        owner_id=skill.owner_id,
        skill=skill,
        number=newest.number + 1 if newest else 1,
        config=said,
        actor=actor,
        created_at=now,
    )
    store_judged(SKILL_KIND, version, now=now)
    return version
