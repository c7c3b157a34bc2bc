"""Export a tree, and apply an import exactly as it was shown. Source: S1 (markdown round-trip)."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext as _

from memory_app.bundle.adapters import Bundle
from memory_app.bundle.adapters.tree import Tree, new_tree
from memory_app.bundle.core.front_matter import render_document
from memory_app.bundle.core.paths import SIGNATURE
from memory_app.bundle.core.plan import MARK_CHARS, WRITTEN, ExportReport, ImportReport, Tally, Verdict, mark_of
from memory_app.bundle.core.signature import render_line, sign_file
from memory_app.bundle.cover import render_banner, render_index, render_preferences_banner
from memory_app.bundle.selectors import Part, judge_part, list_parts, load_trust, new_reading, plan_import
from memory_app.bundle.serialisers import SERIALISERS
from memory_app.bundle.serialisers.base import ExportScope, Judged, OutFile, Writing
from memory_app.user_profile.services import take_turns
from memory_app.writes.services.brought_in import note_brought_in
from minara_site.access.actors import is_operator
from minara_site.access.models import User
from minara_site.kernel.audit_log.services import record_audit, record_audits
from minara_site.kernel.errors import Conflict
from minara_site.kernel.instance.services import fingerprint, get_hmac_key
from minara_site.kernel.jobs.services import Claim, report_progress

TOLD_EVERY = 500
AUDIT = "memory_import"


@dataclass
class ExportRun:
    """An export while it is written: the tree, the key when it is to be signed, what stands in it so far."""

    tree: Tree
    key: bytes | None
    owner_id: int
    paths: dict[str, list[str]] = field(default_factory=dict)
    signatures: list[str] = field(default_factory=list)

    def add(self, kind: str, file: OutFile) -> None:
        """Write a file and sign it."""
        self.tree.write(file.path, file.content)
        self.paths.setdefault(kind, []).append(file.path)
        if self.key:
            self.signatures.append(
                render_line(
                    file.path,
                    sign_file(self.key, self.owner_id, file.path, file.content),
                )
            )


@dataclass(frozen=True, slots=True)
class PreviewPage:
    """What was shown, a mark for each file; `may_be_stored` says that some of it may be done by now."""

    marks: str
    may_be_stored: bool = False

    @property
    def count(self) -> int:
        """How many files were shown."""
        return len(self.marks) // MARK_CHARS

    def mark(self, place: int) -> str:
        """Return the mark of a file."""
        return self.marks[place * MARK_CHARS : (place + 1) * MARK_CHARS]


def export_bundle(
    *,
    owner: User,
    folder: Path | None,
    sign: bool,
    include_constraints: bool,
    now: datetime,
    actor: str,
    reader: User | None = None,
    claim: Claim | None = None,
) -> ExportReport:
    """Write everything that the agent reads of this owner as a tree of markdown files.

    One that an operator asks for holds the methodologies of the instance besides. A `reader` who is not the owner gets
    the secrets masked, and nothing signed. Without a folder it goes under `exports/` in the data folder, named by the
    time. Raises Conflict when the folder holds something, Refused when an agent could read it or it is a link.
    """
    key = get_hmac_key()
    wanted = ExportScope(
        owner,
        reader or owner,
        fingerprint(key),
        include_constraints,
        now,
        is_operator(actor),
    )
    is_signed = sign and not wanted.is_masked
    with new_tree(folder, now=now) as tree:
        packing = ExportRun(tree, key if is_signed else None, owner.pk)
        files = ((each.kind, file) for each in SERIALISERS for file in each.export(wanted))
        for done, (kind, file) in enumerate(files):
            packing.add(kind, file)
            if done % TOLD_EVERY == 0:
                report_progress(claim, done, done)
        counts = {kind: len(paths) for kind, paths in packing.paths.items()}
        add_signposts(packing, wanted)
        left_out = {reason.value: count for reason, count in wanted.left_out.items() if count}
        record_export(wanted, counts, left_out, is_signed=is_signed, actor=actor)
    return ExportReport(
        str(tree.root),
        counts,
        left_out,
        wanted.instance_id,
        is_signed,
    )


def add_signposts(packing: ExportRun, wanted: ExportScope) -> None:
    """Write what a reader opens first, and last the signatures, which cover that too."""
    banner = render_document(wanted.head("banner"), render_banner(wanted))
    index = render_document(
        wanted.head("index", owner=wanted.owner.username),
        render_index(packing.paths, now=wanted.now),
    )
    packing.add("banner", OutFile("README.md", banner))
    limits = render_document(wanted.head("banner"), render_preferences_banner(wanted))
    packing.add("banner", OutFile("preferences/README.md", limits))
    packing.add("index", OutFile("index.md", index))
    if packing.key:
        packing.tree.write(SIGNATURE, "".join(packing.signatures).encode())


def record_export(
    wanted: ExportScope,
    counts: Mapping[str, int],
    left_out: Mapping[str, int],
    *,
    is_signed: bool,
    actor: str,
) -> None:
    """Record what left the store: how many files of which kind, and whether constraints were among them."""
    details = {
        "files": dict(counts),
        "left_out": dict(left_out),
        "signed": is_signed,
        "masked": wanted.is_masked,
        "constraints": wanted.include_constraints,
    }
    record_audit(
        now=wanted.now,
        actor=actor,
        tool_call="bundle_exported",
        owner_id=wanted.owner.pk,
        details=details,
    )


def apply_import(
    *,
    owner: User,
    plan_sha256: str,
    bundle: Bundle,
    actor: str,
    now: datetime,
    approve_hard_constraints: bool = False,
    by_operator: bool = False,
    by_owner: bool = False,
    run: str = "",
    file: str = "",
    marks: str = "",
    claim: Claim | None = None,
) -> ImportReport:
    """Do exactly the plan that was shown. Raises Conflict when it is another by now, BundleRefused as `plan_import`.

    Slice by slice, each one transaction in which the verdicts are found once more: when a slice is no longer what was
    shown it is not written, and the import ends there with Conflict. Who passes the `marks` of the plan, as a job does
    that takes over a broken `run`, goes by them alone: what is stored by now counts as done, all else must be as shown.
    """
    shown, approves = PreviewPage(marks, may_be_stored=True), approve_hard_constraints
    if not marks:
        options = {
            "approve_hard_constraints": approves,
            "by_operator": by_operator,
            "by_owner": by_owner,
        }
        plan = plan_import(
            owner=owner,
            bundle=bundle,
            now=now,
            most_files=0,
            **options,
        )
        if plan.sha256 != plan_sha256:
            raise plan_changed(0)
        shown = PreviewPage(plan.marks)
    trust = load_trust(bundle, owner)
    reading = new_reading(
        owner,
        now,
        approves=approves,
        by_operator=by_operator,
        by_owner=by_owner,
    )
    writing, done = Writing(owner, actor, now, run or secrets.token_hex(8), file), Tally()
    for part in list_parts(bundle):
        report_progress(claim, len(done.digests), shown.count)
        with transaction.atomic():
            take_turns(owner)
            judged = judge_part(part, bundle, trust, reading)
            check_shown(judged, shown, done)
            apply_part(part, judged, writing)
    return ImportReport(writing.run, done.verdicts, done.channels)


def check_shown(judged: Sequence[Judged], shown: PreviewPage, done: Tally) -> None:
    """Count these files as done. Raises Conflict when one of them is not what was shown in its place."""
    written = sum(done.verdicts[verdict] for verdict in WRITTEN)
    for each in judged:
        done.add(each.plan)
        is_done = shown.may_be_stored and each.plan.verdict is Verdict.KNOWN
        if not is_done and mark_of(done.digests[-1]) != shown.mark(len(done.digests) - 1):
            raise plan_changed(written)


def plan_changed(written: int) -> Conflict:
    """Return the refusal of a plan that is out of date."""
    stopped = _("Something changed since the preview, so nothing was imported. Look at the preview again.")
    if written:
        stopped = _("Something changed since the preview. %(count)d files were imported before it; look at the rest.")
        stopped %= {"count": written}
    return Conflict(stopped, code="plan_changed")


def apply_part(part: Part, judged: Sequence[Judged], writing: Writing) -> None:
    """Write the files of a part with an audit row each: where it lay and what became of it, never what it says."""
    chosen = [each for each in judged if each.plan.verdict in WRITTEN]
    store = part.serialiser and part.serialiser.store
    stored = store(chosen, writing) if store and chosen else []
    added = {each.plan.path: details for each, details in zip(chosen, stored, strict=True)}
    acts: list[tuple[str, dict[str, object]]] = []
    for plan in (each.plan for each in judged if each.plan.verdict is not Verdict.KNOWN):
        details = {
            "run": writing.run,
            "file": plan.path,
            "verdict": plan.verdict.value,
            "count": 0,
        }
        details |= {"reason": plan.reason.value} if plan.reason else {}
        details |= {"constraint": True} if plan.is_constraint else {}
        acts.append((f"{AUDIT}.{plan.channel}", details | dict(added.get(plan.path, {}))))
    record_audits(
        acts,
        now=writing.now,
        actor=writing.actor,
        owner_id=writing.owner.pk,
    )
    note_brought_in(
        owner=writing.owner,
        run=writing.run,
        actor=writing.actor,
        file=writing.file,
        memories=sum(details["count"] for details in added.values()),
        values=sum(details.get("entries", 0) for details in added.values()),
        now=writing.now,
    )
