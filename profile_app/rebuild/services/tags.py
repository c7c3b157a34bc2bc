"""Tags out of trades and what is known of the user; only undeclared dimensions are asked for. Source: S3."""

from datetime import datetime

from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import RUN_ORIGIN
from profile_app.portrait.core.tags import SCHEMA, TagSource, labels_of
from profile_app.portrait.models import FinancialProfile
from profile_app.portrait.selectors.profile import load_newest_memories, load_profile_texts, summaries_of
from profile_app.portrait.selectors.tags import list_tags
from profile_app.portrait.services.tags import set_tags
from profile_app.rebuild.changes import TAG, tag_key, tag_state
from profile_app.rebuild.core import Flow, quoted, render
from profile_app.rebuild.core.tags import MAX_TOKENS, SYSTEM, TagsAnswer, choose_tags
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.selectors import find_wrong_tags, load_trades
from profile_app.rebuild.services.work import Work, Written


def read(owner: User, profile: FinancialProfile, *, now: datetime, is_forced: bool) -> Work | None:
    """Return the question about undeclared dimensions, None where there is no dimension or no evidence to ask about."""
    known = {tag.name: tag for tag in list_tags(owner=owner)}
    asked = [name for name in SCHEMA if name not in known or known[name].source == TagSource.INFERRED]
    figures, _before, after = load_trades(owner, profile, now=now)
    memories = load_newest_memories(owner)
    if not asked or not (any(after.values()) or memories):
        return None
    data = {
        "dimensions": {name: [f"{value} {label}".strip() for value, label in SCHEMA[name].items()] for name in asked},
        "known": {name: labels_of(name, tag.value) for name, tag in known.items()},
        "figures": figures,
        "summary": summaries_of(load_profile_texts(owner.pk)),
        "memories": [quoted(memory.content) for memory in memories],
        "wrong": [f"{name}: {value}" for name, value in sorted(find_wrong_tags(owner))],
    }
    return Work(
        system=SYSTEM,
        content=render(data),
        answer=TagsAnswer,
        max_tokens=MAX_TOKENS,
        read={"dimensions": asked, "memories": len(memories), "figures": figures},
        write=write,
    )


def write(run: RebuildRun, answer: TagsAnswer, *, now: datetime) -> Written:
    """Infer the values that count; one that was declared meanwhile stays. Needs a transaction."""
    before = {tag.name: tag for tag in list_tags(owner=run.owner)}
    declared = {name for name, tag in before.items() if tag.source != TagSource.INFERRED}
    values, evidence, run.dropped = choose_tags(
        answer, {*run.read["dimensions"]} - declared, find_wrong_tags(run.owner)
    )
    changes = set_tags(
        owner=run.owner,
        values=values,
        source=TagSource.INFERRED,
        actor=Flow.TAGS.actor,
        now=now,
        origin=f"{RUN_ORIGIN}{run.pk}",
        is_audited=False,
    )
    written: Written = []
    for name, tag in ((change.name, change.tag) for change in changes if change.kind):
        line = {"kind": TAG, "key": tag_key(run.owner_id, name), "name": name, "evidence": evidence[name]}
        written.append((line, tag, tag_state(before.get(name))))
    return written
