"""What the jobs of a transfer do: write an export, show what an import would do, and do exactly that."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from memory_app.bundle.adapters import read_bundle, upload_store
from memory_app.bundle.adapters.archive import check_directory, is_uploadable
from memory_app.bundle.adapters.workspaces import write_workspace
from memory_app.bundle.core.preview import LETTERS, MAX_SHOWN, Preview, Row, Tally, preview_tree
from memory_app.bundle.models import BundleTransfer
from memory_app.bundle.selectors import plan_import
from memory_app.bundle.services import apply_import, export_bundle
from memory_app.bundle.transfers import TREE
from memory_app.importers.adapters import Bundle, Format, open_bundle
from memory_app.importers.services import Verdict, run_import
from minara_site.access.actors import is_operator, is_owner
from minara_site.access.models import User
from minara_site.kernel.errors import Conflict, Invalid
from minara_site.kernel.files.models import StoredFile
from minara_site.kernel.jobs.services import Claim, report_progress

DIRECTORIES = (Format.OPENCLAW, Format.HERMES)
SHOWN_AS = {verdict: verdict.value for verdict in Verdict} | {Verdict.DUPLICATE: "known"}
BY_LETTER = {LETTERS[word]: verdict for verdict, word in SHOWN_AS.items()}
PROGRESS_EVERY = 500
MAX_ENTRIES = 100_000  # a worker looks at them in about a minute


def write_export(
    transfer: BundleTransfer,
    *,
    now: datetime,
    claim: Claim | None,
) -> tuple[StoredFile, dict[str, Any]]:
    """Write the tree of an export and pack it; return the file and what is in it. Raises as `export_bundle`."""
    options = transfer.options
    with upload_store.workbench() as bench:
        report = export_bundle(
            owner=transfer.owner,
            folder=bench / "tree",
            sign=options["sign"],
            include_constraints=options["include_constraints"],
            now=now,
            actor=transfer.actor,
            reader=User.objects.get(pk=transfer.actor.removeprefix("user:")),
            claim=claim,
        )
        packed = bench / "export.zip"
        upload_store.pack(bench / "tree", packed)
        stored = upload_store.store_packed(
            packed,
            now=now,
            expires_at=transfer.expires_at,
        )
        return stored, {
            "files": dict(report.files),
            "left_out": dict(report.left_out),
            "is_signed": report.is_signed,
            "is_uploadable": is_uploadable(packed),
        }


def is_tree(transfer: BundleTransfer) -> bool:
    """Say whether this is our own tree; every other file is read row by row."""
    return transfer.format == TREE and bool(transfer.options["is_zip"])


def is_by_operator(transfer: BundleTransfer) -> bool:
    """Say whether operators alone uploaded an import and asked for it to be applied, if anybody did yet."""
    return all(
        map(
            is_operator,
            {transfer.actor, transfer.options.get("applied_by", transfer.actor)},
        )
    )


def is_by_owner(transfer: BundleTransfer) -> bool:
    """Say whether the owner alone uploaded an import and asked for it to be applied, if anybody did yet."""
    actors = {transfer.actor, transfer.options.get("applied_by", transfer.actor)}
    return all(is_owner(actor, transfer.owner) for actor in actors)


def preview_transfer(transfer: BundleTransfer, *, now: datetime) -> Preview:
    """Return what an import would do. Raises BundleRefused, NotFound, Invalid."""
    if is_tree(transfer):
        with upload_store.opened(transfer.file_name) as path:
            plan = plan_import(
                owner=transfer.owner,
                bundle=read_bundle(path),
                now=now,
                approve_hard_constraints=transfer.options["approve"],
                by_operator=is_by_operator(transfer),
                by_owner=is_by_owner(transfer),
                most_files=MAX_SHOWN,
            )
        return preview_tree(plan)
    with open_upload(transfer) as bundle:
        tally = Tally((str(transfer.owner_id), transfer.sha256, transfer.format))
        for each in run_import(
            owner=transfer.owner,
            bundle=bundle,
            apply=False,
            now=now,
            actor=transfer.actor,
        ):
            place = f"{each.file}:{each.place}" if each.place else each.file
            tally.add(
                Row(
                    place,
                    SHOWN_AS[each.verdict],
                    kind=each.kind,
                    why=each.reason,
                    text=each.text,
                )
            )
            if len(tally.letters) > MAX_ENTRIES:
                problem = _("It holds more than %(most)d entries. Bring it in at a terminal, with minara import.")
                raise Invalid(problem % {"most": MAX_ENTRIES})
        if not tally.letters:
            raise Invalid(_("It holds nothing to import."))
        return tally.preview(bundle.ignored)


@contextmanager
def open_upload(transfer: BundleTransfer) -> Iterator[Bundle]:
    """Open the file of another product. Raises NotFound, BundleRefused."""
    source_format, is_zip = Format(transfer.format), transfer.options["is_zip"]
    with upload_store.opened(transfer.file_name) as path, upload_store.workbench() as bench:
        if is_zip:
            with path.open("rb") as stream:
                check_directory(stream, transfer.given_name)
        if source_format not in DIRECTORIES:
            yield open_bundle(path, source_format, name=transfer.given_name)
            return
        others = write_workspace(path, transfer.given_name, bench, is_zip=is_zip)
        if not any(bench.iterdir()):
            raise Invalid(_("It holds no MEMORY.md, no USER.md and no daily note."))
        yield replace(open_bundle(bench, source_format), ignored=others)


def apply_transfer(
    transfer: BundleTransfer,
    *,
    now: datetime,
    claim: Claim | None,
) -> dict[str, Any]:
    """Do exactly what was shown; return what was done. Raises Conflict when it is something else by now."""
    if is_tree(transfer):
        return apply_tree(transfer, now=now, claim=claim)
    return apply_rows(transfer, now=now, claim=claim)


def is_taken_over(claim: Claim | None) -> bool:
    """Say whether another worker began this and died."""
    return claim is not None and claim.attempt > 1


def marks_of(transfer: BundleTransfer) -> str:
    """Return what each row was shown to become."""
    return str((transfer.plan or {}).get("marks", ""))


def apply_tree(
    transfer: BundleTransfer,
    *,
    now: datetime,
    claim: Claim | None,
) -> dict[str, Any]:
    """Apply our own tree; a worker that takes over from a dead one goes by the marks of what was shown."""
    with upload_store.opened(transfer.file_name) as path:
        report = apply_import(
            owner=transfer.owner,
            plan_sha256=transfer.plan_sha256,
            bundle=read_bundle(path),
            actor=transfer.options["applied_by"],
            file=transfer.given_name,
            now=now,
            approve_hard_constraints=transfer.options["approve"],
            by_operator=is_by_operator(transfer),
            by_owner=is_by_owner(transfer),
            run=transfer.options["run"],
            marks=marks_of(transfer) if is_taken_over(claim) else "",
            claim=claim,
        )
    return {
        "verdicts": {verdict.value: count for verdict, count in report.verdicts.items()},
        "run": report.run,
    }


def apply_rows(
    transfer: BundleTransfer,
    *,
    now: datetime,
    claim: Claim | None,
) -> dict[str, Any]:
    """Apply the file of another product, slice by slice, and nothing in it that was not shown.

    A worker that takes over from a dead one finds rows stored already; the plan as a whole is compared before only.
    """
    letters = marks_of(transfer)
    if not is_taken_over(claim) and preview_transfer(transfer, now=now).sha256 != transfer.plan_sha256:
        raise Conflict(_("This changed since you opened it: preview again."), code="stale")
    counts: Counter[str] = Counter()
    with open_upload(transfer) as bundle:
        judged = run_import(
            owner=transfer.owner,
            bundle=bundle,
            apply=True,
            now=now,
            actor=transfer.options["applied_by"],
            run=transfer.options["run"],
            file=transfer.given_name,
            planned=(BY_LETTER[letter] for letter in letters),
        )
        for done, each in enumerate(judged, start=1):
            counts[SHOWN_AS[each.verdict]] += 1
            if done % PROGRESS_EVERY == 0:
                report_progress(claim, done, len(letters))
    return {"verdicts": dict(counts), "run": transfer.options["run"]}
