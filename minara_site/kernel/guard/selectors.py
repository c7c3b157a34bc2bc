"""Reads of the guard: verdicts on stored texts, and the holds that wait. Sources: trust P-02, P-04.

A stored text is judged here and nowhere else, because what a person released is no finding a second time.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from minara_site.kernel.audit_log.services import content_digest
from minara_site.kernel.core.vocabulary import AGENT_ACTOR
from minara_site.kernel.guard import core
from minara_site.kernel.guard.core import Verdict
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.guard.models import Decision, Hold
from minara_site.kernel.ownership import Owner

OWNER_ACT = "document_release"
"""The act of kinds whose texts only their owner lets in."""
REPEATED_WITHIN = timedelta(minutes=10)
Cleared = Mapping[tuple[int, str], frozenset[str]]


def judge_stored(kind: str, texts: Mapping[int, str]) -> dict[int, Verdict]:
    """Return the verdict on each text by its row's id; what a person released in this very text is no finding.

    No query unless something is found, then one.
    """
    verdicts = {object_id: core.judge(text) for object_id, text in texts.items()}
    found = [object_id for object_id, verdict in verdicts.items() if verdict.is_held]
    if found:
        cleared = find_cleared(kind, found)
        for object_id in found:
            rules = cleared.get((object_id, content_digest(texts[object_id])), frozenset())
            findings = tuple(each for each in verdicts[object_id].findings if each.rule not in rules)
            verdicts[object_id] = replace(verdicts[object_id], findings=findings)
    return verdicts


def find_refused(
    kind: str,
    rows: Iterable[Any],
    text: Callable[[Any], str] = attrgetter("guarded_text"),
) -> set[int]:
    """Return the ids of rows that today's rules refuse; no query while all verdicts are by those rules (P-04)."""
    stale = {row.pk: text(row) for row in rows if row.rules_version != core.RULES.version}
    return {object_id for object_id, verdict in judge_stored(kind, stale).items() if verdict.is_held}


def find_cleared(kind: str, object_ids: Collection[int]) -> Cleared:
    """Return by row and content hash the rules whose findings a person saw and released."""
    released = Hold.objects.decided(Decision.RELEASED).filter(kind=kind, object_id__in=object_ids)
    cleared: defaultdict[tuple[int, str], frozenset[str]] = defaultdict(frozenset)
    for object_id, digest, findings in released.values_list("object_id", "content_sha256", "findings"):
        cleared[object_id, digest] |= {finding["rule"] for finding in findings}
    return cleared


def out_of_date() -> tuple[dict[str, str], dict[str, str]]:
    """Return the two conditions of rows that another rule set judged: ranges, each of which walks an index."""
    return {"rules_version__lt": core.RULES.version}, {"rules_version__gt": core.RULES.version}


def list_holds(*, owner: Owner) -> "QuerySet[Hold]":
    """Return the holds that wait for a decision, unordered: the queue orders them."""
    return Hold.objects.for_owner(owner).open()


def find_open_holds(kind: str, object_ids: Iterable[int]) -> dict[int, Hold]:
    """Return the holds that wait, by the id of their row."""
    return {hold.object_id: hold for hold in Hold.objects.open().filter(kind=kind, object_id__in=list(object_ids))}


def find_expired_discards(kind: str, *, cutoff: datetime) -> set[int]:
    """Return the ids of rows whose text was discarded by then: what was kept of it until now goes."""
    discarded = Hold.objects.decided(Decision.DISCARDED).filter(kind=kind, decided_at__lte=cutoff)
    return set(discarded.values_list("object_id", flat=True))


def find_last_hold(kind: str, object_id: int) -> Hold | None:
    """Return the newest hold of a row, decided or not."""
    return Hold.objects.filter(kind=kind, object_id=object_id).order_by("-pk").first()


def hold_record(hold: Hold) -> dict[str, Any]:
    """Return why a text waits and what happens now, as API and tools answer it (contract)."""
    first = hold.findings[0]
    note = _("Stored, but no prompt and no tool reads it until an operator releases it; they may discard it.")
    if stored_kinds()[hold.kind].release_act == OWNER_ACT:
        note = _("Stored, but no prompt and no tool reads it until its owner lets it in on its page.")
    return {
        "reason": hold.reason,
        "span": [first["start"], first["end"]],
        "rule": hold.rule,
        "note": note,
    }


def find_held(kind: str, row: Any) -> dict[str, Any] | None:
    """Return why the text of a row with `held_at` waits, None when it does not."""
    hold = find_open_holds(kind, [row.pk]).get(row.pk) if row.held_at else None
    return hold_record(hold) if hold else None


def list_repeated(kind: str, row: Any, arguments: Iterable[str]) -> "QuerySet[Any]":
    """Return the stored rows of which this unsaved one is a repetition, oldest first (decisions: twice is once).

    Those are by the same key, at most ten minutes older, not discarded, and equal in `decided_at` and `arguments`, the
    columns that hold what a call says; a `decided_at` that it leaves out is stored as `created_at`. Lock the owner
    first: then only one of equal calls at once finds nothing.
    """
    since = row.created_at - REPEATED_WITHIN
    decided = Q(decided_at=row.decided_at)
    if row.decided_at == row.created_at:
        decided = Q(decided_at=F("created_at"), decided_at__gte=since)
    waits = Exists(Hold.objects.open().filter(kind=kind, object_id=OuterRef("pk")))
    rows: QuerySet[Any] = type(row).objects.filter(
        decided,
        Q(held_at__isnull=True) | waits,
        created_at__gte=since,
        actor__startswith=AGENT_ACTOR,
        **{name: getattr(row, name) for name in ("owner_id", "actor", *arguments)},
    )
    return rows.order_by("pk")


def written_record(kind: str, row: Any, *, is_new: bool = True) -> dict[str, Any]:
    """Return what a tool answers about a row that it wrote: its id, why the guard holds it, and that it is not new."""
    held = find_held(kind, row)
    return {
        "id": row.pk,
        **({"held": held} if held else {}),
        **({} if is_new else {"repeated": True}),
    }
