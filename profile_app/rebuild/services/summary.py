"""The trading summary out of three sources and reference wallets. Source: S3 (three-source trading summary)."""

from datetime import datetime
from functools import partial
from typing import Any

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.changes.core import Step
from profile_app.documents.core import PROFILE_SUMMARY, Origin
from profile_app.documents.selectors import find_document
from profile_app.documents.services import save_document
from profile_app.portrait.core.profile import PLATFORM_SUMMARY, REFERENCE_SUMMARY
from profile_app.portrait.models import FinancialProfile
from profile_app.portrait.selectors.profile import load_profile_texts, summaries_of
from profile_app.rebuild.changes import first_version
from profile_app.rebuild.core import Flow, render
from profile_app.rebuild.core.summary import MAX_TOKENS, SYSTEM, THRESHOLD, SummaryAnswer, compose_summary
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.selectors import CURSORS, NOT_KNOWN, find_undone_hashes, load_reference_wallets, load_trades
from profile_app.rebuild.services.work import Work, Written


def read(owner: User, profile: FinancialProfile, *, now: datetime, is_forced: bool) -> Work[SummaryAnswer] | None:
    """Return the question about an owner's trades, None where too little is new."""
    material = load_trades(owner, profile, now=now)
    new = sum(material.new.values())
    if new < THRESHOLD and not (is_forced and (new or profile.reference_wallets_json != "[]")):
        return None
    wallets = load_reference_wallets(owner, profile, now=now)
    data = {
        **material.figures,
        "reference_wallets": wallets or "none",
        "summary_until_now": summaries_of(load_profile_texts(owner.pk)),
    }
    has = {
        "has_spot": any(each != NOT_KNOWN for each in material.figures["spot"].values()),
        "has_perps": material.figures["perps"] != NOT_KNOWN,
        "has_wallets": any(each["newest_fills"] != NOT_KNOWN for each in wallets),
    }
    after = {CURSORS[name]: last for name, last in material.after.items()}
    return Work(
        system=SYSTEM,
        content=render(data),
        answer=SummaryAnswer,
        max_tokens=MAX_TOKENS,
        read={"new": material.new, "figures": material.figures, "wallets": wallets},
        before={CURSORS[name]: last for name, last in material.before.items()},
        after=after | {"trading_summary_updated_at": now},
        write=partial(write, owner=owner, has=has),
        wakes=(Flow.TAGS,),
    )


def write(run: RebuildRun, answer: SummaryAnswer, *, now: datetime, owner: User, has: dict[str, bool]) -> Written:
    """Put the texts in force that say something new; one that the guard refuses waits. Needs a transaction."""
    texts = {
        PLATFORM_SUMMARY: compose_summary(answer, has_spot=has["has_spot"], has_perps=has["has_perps"]),
        REFERENCE_SUMMARY: answer.reference_wallets_summary.strip() if has["has_wallets"] else "",
    }
    wrong = find_undone_hashes(owner, Flow.SUMMARY)
    steps: list[Step] = []
    lines: list[dict[str, Any]] = []
    dropped = {"wrong": 0, "held": 0}
    for name, text in texts.items():
        if not text:
            continue
        if content_digest(text) in wrong:
            dropped["wrong"] += 1
            continue
        before = first_version(find_document(owner=owner, kind=PROFILE_SUMMARY, name=name))
        saved = save_document(
            owner=owner,
            kind=PROFILE_SUMMARY,
            name=name,
            content=text,
            origin=Origin.SERVICE,
            actor=Flow.SUMMARY.actor,
            now=now,
            is_audited=False,
        )
        if saved.hold:
            dropped["held"] += 1
        after, document = first_version(saved.document), saved.document
        if not saved.hold and before != after:
            key = str(document.pk)
            states = {"version": before}, {"version": after}
            steps.append(Step(PROFILE_SUMMARY, key, document, owner.pk, *states))
            lines.append({"kind": PROFILE_SUMMARY, "key": key, "name": name, "hash": content_digest(text)})
    return Written(steps, lines, {why: count for why, count in dropped.items() if count})
