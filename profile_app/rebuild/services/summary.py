"""The trading summary out of three sources and reference wallets. Source: S3 (three-source trading summary)."""

from collections import Counter
from datetime import datetime

from minara_site.access.models import User
from minara_site.kernel.audit_log.services import content_digest
from profile_app.documents.core import PROFILE_SUMMARY, Origin
from profile_app.documents.selectors import find_document
from profile_app.documents.services import save_document
from profile_app.portrait.core.profile import PLATFORM_SUMMARY, REFERENCE_SUMMARY
from profile_app.portrait.models import FinancialProfile
from profile_app.portrait.selectors.profile import load_profile_texts, summaries_of
from profile_app.rebuild.changes import text_state
from profile_app.rebuild.core import Flow, render
from profile_app.rebuild.core.summary import MAX_TOKENS, SYSTEM, THRESHOLD, SummaryAnswer, compose_summary
from profile_app.rebuild.models import RebuildRun
from profile_app.rebuild.selectors import NOT_KNOWN, find_undone_hashes, load_reference_wallets, load_trades
from profile_app.rebuild.services.work import Work, Written


def read(owner: User, profile: FinancialProfile, *, now: datetime, is_forced: bool) -> Work | None:
    """Return the question about an owner's trades, None where too little is new."""
    figures, before, after = load_trades(owner, profile, now=now)
    new = sum(figures["new_rows"].values())
    if new < THRESHOLD and not (is_forced and (new or profile.reference_wallets_json != "[]")):
        return None
    wallets = load_reference_wallets(profile, now=now)
    data = {
        **figures,
        "reference_wallets": wallets or "none",
        "summary_until_now": summaries_of(load_profile_texts(owner.pk)),
    }
    return Work(
        system=SYSTEM,
        content=render(data),
        answer=SummaryAnswer,
        max_tokens=MAX_TOKENS,
        read={"new": figures["new_rows"], "figures": figures, "wallets": wallets},
        write=write,
        before=before,
        after=after | {"trading_summary_updated_at": now},
    )


def write(run: RebuildRun, answer: SummaryAnswer, *, now: datetime) -> Written:
    """Put the texts in force that say something new; one that the guard refuses waits. Needs a transaction."""
    figures, wallets = run.read["figures"], run.read["wallets"]
    has_spot = any(each != NOT_KNOWN for each in figures["spot"].values())
    has_wallets = any(each["newest_fills"] != NOT_KNOWN for each in wallets)
    texts = {
        PLATFORM_SUMMARY: compose_summary(answer, has_spot=has_spot, has_perps=figures["perps"] != NOT_KNOWN),
        REFERENCE_SUMMARY: answer.reference_wallets_summary.strip() if has_wallets else "",
    }
    wrong = find_undone_hashes(run.owner)
    written: Written = []
    dropped: Counter[str] = Counter()
    for name, text in texts.items():
        digest = content_digest(text)
        if not text:
            continue
        if digest in wrong:
            dropped["wrong"] += 1
            continue
        before = text_state(find_document(owner=run.owner, kind=PROFILE_SUMMARY, name=name))
        saved = save_document(
            owner=run.owner,
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
        elif saved.is_changed:
            line = {"kind": PROFILE_SUMMARY, "key": str(saved.document.pk), "name": name, "hash": digest}
            written.append((line, saved.document, before))
    run.dropped = dropped
    return written
