"""How a trading agent and one of its ticks look: what it reads, and what of that is known to be as it was sent."""

from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from learning_app.ledger.core import HELD, SNAPSHOT_KIND
from learning_app.ledger.models import DecisionSnapshot, Deployment, SkillVersion, Trade
from learning_app.lessons.core.reflection import read_slots
from learning_app.lessons.selectors import find_note
from learning_app.ticks.core.config import SkillConfig
from learning_app.ticks.core.context import LESSONS, WARN_FROM, Context, estimate_memory, render_risk
from learning_app.ticks.forms import SettingsForm
from learning_app.ticks.selectors import (
    first_context,
    last_snapshot,
    load_context,
    load_risk_state,
    mask_context,
    snapshot_before,
)
from minara_site.access.actors import name_actors
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.core.amounts import hide_amounts
from minara_site.kernel.core.tokens import estimate_tokens
from minara_site.kernel.guard.masking import mask, masked_for
from minara_site.kernel.guard.selectors import find_refused
from minara_site.web.values import plain_number

MAX_TICKS, MAX_VERSIONS = 20, 20


def load_trial(deployment: Deployment, version: SkillVersion, config: SkillConfig) -> Context:
    """Return what the last tick would have answered under a configuration. Five queries at most."""
    trial = SkillVersion(config=config.model_dump(mode="json"), held_at=version.held_at)
    trial.rules_version = version.rules_version
    snapshot = last_snapshot(deployment)
    return load_context(snapshot, trial) if snapshot else first_context(trial)


def deployment_context(deployment: Deployment, reader: User, form: SettingsForm, *, is_tried: bool) -> dict[str, Any]:
    """Return what the page of a trading agent shows; `is_tried` shows what a form says that is not saved."""
    version = deployment.version
    config = SkillConfig(**version.config)
    if is_tried:
        config = config.model_copy(update={"memory": form.config(config.memory)})
    context = load_trial(deployment, version, config)
    if deployment.owner_id != reader.pk:
        context = mask_context(context)
    ticks = DecisionSnapshot.objects.filter(deployment=deployment).defer("positions", "memory", "proposed_action")
    versions = SkillVersion.objects.filter(skill=version.skill_id).defer("config").order_by("-number")[:MAX_VERSIONS]
    names = name_actors({each.actor for each in versions}, reader=reader)
    tokens = estimate_memory(context, config)
    return {
        "title": mask(deployment.name) if deployment.owner_id != reader.pk else deployment.name,
        "deployment": deployment,
        "is_own": deployment.owner_id == reader.pk,
        "version": version,
        "versions": [(each, names[each.actor]) for each in versions],
        "context": context,
        "texts": [text for text in context.sections.values() if text],
        "session": "" if config.memory.enabled else render_risk(load_risk_state(deployment)),
        "is_read": config.memory.enabled,
        "segments": segments_of(context),
        "tokens": tokens,
        "is_large": tokens > WARN_FROM,
        "warn_from": WARN_FROM,
        "is_tried": is_tried,
        "ticks": [masked_for(reader, tick) for tick in ticks.order_by("-tick_at")[:MAX_TICKS]],
    }


def segments_of(context: Context) -> list[tuple[str, str, int, bool]]:
    """Return the parts of the system's prompt: label, text, tokens, and whether it stands for what is not there yet."""
    none_yet = _("(no lessons yet: they appear here)")
    placeholder = f"{LESSONS}\n{none_yet}"
    labels = {
        "header": _("Header (fixed)"),
        "leash": _("Avoid rules"),
        "strategy": _("Strategy"),
        "lessons": _("Lessons"),
        "footer": _("Footer (fixed)"),
    }
    return [
        (labels[name], text or placeholder, estimate_tokens(text or ""), name == "lessons" and not text)
        for name, text in context.segments.items()
        if text or name == "lessons"
    ]


def seen_context(snapshot: DecisionSnapshot, reader: User) -> dict[str, Any]:
    """Return what stood before the agent when it decided at a tick: recomputed, and whether it is what was sent.

    Where it is not, `has_held` says that words are held now which were not then.
    """
    before = snapshot_before(snapshot)
    if before is None:
        return {"before": None}
    context = load_context(before, before.version)
    shown = context if snapshot.owner_id == reader.pk else mask_context(context)
    texts = [text for text in (*shown.segments.values(), *shown.sections.values()) if text]
    is_same = context.hash == before.context_hash
    return {
        "before": before,
        "seen_texts": texts,
        "is_same": is_same,
        "has_held": not is_same and any(HELD in text for text in texts),
    }


def snapshot_context(snapshot: DecisionSnapshot, reader: User) -> dict[str, Any]:
    """Return what the page of a tick shows."""
    is_refused = bool(snapshot.held_at or find_refused(SNAPSHOT_KIND, [snapshot]))
    shown = masked_for(reader, snapshot)
    return {
        "title": _("Tick of %(name)s") % {"name": mask(snapshot.deployment.name)},
        "snapshot": shown,
        "deployment": snapshot.deployment,
        "reason": HELD if is_refused else shown.reason,
        "action": snapshot.proposed_action or {},
        "positions": [
            (symbol, {name: plain_text(value) for name, value in position.items()})
            for symbol, position in sorted(snapshot.positions.items())
        ],
        **seen_context(snapshot, reader),
    }


def trade_parts(trade: Trade, principal: Principal) -> dict[str, Any]:
    """Return the lessons that stood before the agent of a trade, and for who may read it, all that it saw."""
    reader, lessons_hash = principal.owner, trade.entry_lessons_hash
    note = find_note(trade.deployment_id, lessons_hash) if trade.deployment_id and lessons_hash else None
    tick = trade.entry_snapshot if principal.may(Act.DEPLOYMENT_READ) else None
    seen = seen_context(tick, reader) if tick else {}
    shown = masked_for(reader, note) if note else None
    text = shown.lessons_text if shown else ""
    slots, masked_slots = read_slots(text), read_slots(hide_amounts(text))
    return {"note": shown, "slots": slots, "masked_slots": masked_slots, "tick": tick, **seen}


def plain_text(value: str | None) -> str | None:
    """Return a number of a snapshot without zeros behind, any other word as it is."""
    try:
        return plain_number(Decimal(value)) if value is not None else None
    except ArithmeticError:
        return value
