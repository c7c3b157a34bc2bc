"""Tags out of trades and what is known of the user; only undeclared dimensions are asked for. Source: S3."""

from datetime import datetime
from functools import partial

from minara_site.access.models import User
from minara_site.kernel.changes.core import Step
from minara_site.kernel.core.fence import fence_text
from minara_site.kernel.core.redact import redact_text
from minara_site.kernel.core.vocabulary import RUN_ORIGIN
from profile_app.portrait.core.tags import SCHEMA, TagSource, labels_of
from profile_app.portrait.models import FinancialProfile
from profile_app.portrait.selectors.profile import load_newest_memories, load_profile_texts, summaries_of
from profile_app.portrait.selectors.tags import list_tags
from profile_app.portrait.services.tags import set_tags
from profile_app.rebuild.changes import TAG, TAG_STATE, tag_key
from profile_app.rebuild.core import Flow, render
from profile_app.rebuild.core.tags import MAX_TOKENS, SYSTEM, TagsAnswer, choose_tags
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.selectors import find_wrong_tags, load_trades, wrong_labels
from profile_app.rebuild.services.work import Work, Written


def read(owner: User, profile: FinancialProfile, *, now: datetime, is_forced: bool) -> Work[TagsAnswer] | None:
    """Return the question about undeclared dimensions, None where there is no dimension or no evidence to ask about."""
    known = {tag.name: tag for tag in list_tags(owner=owner)}
    asked = [name for name in SCHEMA if name not in known or known[name].source == TagSource.INFERRED]
    material, memories = load_trades(owner, profile, now=now), load_newest_memories(owner)
    if not asked or not (any(material.after.values()) or memories):
        return None
    wrong = find_wrong_tags(owner)
    data = {
        "dimensions": {name: [f"{value} {label}".strip() for value, label in SCHEMA[name].items()] for name in asked},
        "known": {name: labels_of(name, tag.value) for name, tag in known.items()},
        "figures": material.figures,
        "summary": summaries_of(load_profile_texts(owner.pk)),
        "memories": [fence_text(redact_text(memory.content)) for memory in memories],
        "wrong": wrong_labels(wrong),
    }
    return Work(
        system=SYSTEM,
        content=render(data),
        answer=TagsAnswer,
        max_tokens=MAX_TOKENS,
        read={"dimensions": asked, "memories": len(memories), "figures": material.figures},
        before={},
        after={},
        write=partial(write, owner=owner, asked=asked),
    )


def write(run: RebuildRun, answer: TagsAnswer, *, now: datetime, owner: User, asked: list[str]) -> Written:
    """Infer the values that count; one that was declared meanwhile stays. Needs a transaction."""
    before = {tag.name: tag for tag in list_tags(owner=owner)}
    open_names = {name for name in asked if name not in before or before[name].source == TagSource.INFERRED}
    states = {name: {column: getattr(tag, column) for column in TAG_STATE} for name, tag in before.items()}
    values, evidence, dropped = choose_tags(answer, open_names, find_wrong_tags(owner))
    changes = set_tags(
        owner=owner,
        values=values,
        source=TagSource.INFERRED,
        actor=Flow.TAGS.actor,
        now=now,
        origin=f"{RUN_ORIGIN}{run.pk}",
        is_audited=False,
    )
    changed = [change for change in changes if change.kind and change.tag]
    steps = [
        Step(
            TAG,
            tag_key(owner.pk, change.name),
            change.tag,
            owner.pk,
            states.get(change.name, dict.fromkeys(TAG_STATE, "")),
            {column: getattr(change.tag, column) for column in TAG_STATE},
        )
        for change in changed
    ]
    lines = [
        {"kind": TAG, "key": tag_key(owner.pk, each.name), "name": each.name, "evidence": evidence[each.name]}
        for each in changed
    ]
    return Written(steps, lines, dropped)
