"""Does the audit log still say what it said when it was sealed? Every seal is computed anew and compared."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from minara_site.kernel.audit_log.chain import MAX_PER_SEAL, START, Link, digest, entries_after, link_of, newest_seal
from minara_site.kernel.audit_log.models import AuditSeal
from minara_site.kernel.jobs.services import Claim, report_progress

READ_AT_ONCE = 500  # seals
MAX_READ = 2 * MAX_PER_SEAL + 1  # entries between two seals: one of them may be missing, more are a break anyway


class Break(StrEnum):
    """How the first broken seal differs from what it covers."""

    ENTRY_CHANGED = "entry_changed"
    ENTRY_MISSING = "entry_missing"
    ENTRY_ADDED = "entry_added"
    SEAL_CHANGED = "seal_changed"
    SEAL_MISSING = "seal_missing"


BREAKS: dict[Break, str | Promise] = {
    Break.ENTRY_CHANGED: gettext_lazy("an entry was changed"),
    Break.ENTRY_MISSING: gettext_lazy("an entry is missing"),
    Break.ENTRY_ADDED: gettext_lazy("an entry was added later"),
    Break.SEAL_CHANGED: gettext_lazy("the seal itself was changed"),
    Break.SEAL_MISSING: gettext_lazy("the seal before it is missing"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found: how much it saw, the digest at the end, and the first break, if any."""

    seals: int
    entries: int
    sha256: str
    broken: Break | None = None
    seal_id: int | None = None
    after_id: int = 0
    last_id: int = 0

    @property
    def sentence(self) -> str:
        if self.broken is None:
            counts = {"entries": f"{self.entries:,}", "seals": f"{self.seals:,}"}
            return _("Every seal fits (entries: %(entries)s, seals: %(seals)s).") % counts
        return _(
            "The chain is broken at seal %(seal)d, entries %(first)d to %(last)d: %(how)s. "
            "Compare these entries with a backup."
        ) % {
            "seal": self.seal_id,
            "first": self.after_id + 1,
            "last": self.last_id,
            "how": BREAKS[self.broken],
        }


def verify_chain(*, claim: Claim | None = None) -> Finding:
    """Compute every seal anew, one at a time, up to the first that is broken. Raises Cancelled and ClaimLost."""
    total, seen, entries, before = AuditSeal.objects.count(), 0, 0, START
    for seal in walk_seals():
        if broken := find_break(seal, before):
            return Finding(seen, entries, before.sha256, broken, seal.pk, before.last_id, seal.last_id)
        before, seen, entries = link_of(seal), seen + 1, entries + seal.entries
        report_progress(claim, seen, total)
    return Finding(seen, entries, before.sha256)


def walk_seals() -> Iterator[AuditSeal]:
    """Yield the seals in the order of the chain, in slices, so that no read stays open for long."""
    last_id = 0
    while seals := list(AuditSeal.objects.filter(last_id__gt=last_id).order_by("last_id")[:READ_AT_ONCE]):
        yield from seals
        last_id = seals[-1].last_id


def verify_newest() -> Finding:
    """Compute the newest seal anew: at most one batch of entries."""
    seal = newest_seal()
    if seal is None:
        return Finding(0, 0, "")
    before = link_of(AuditSeal.objects.filter(last_id__lt=seal.last_id).order_by("-last_id").first())
    broken = find_break(seal, before)
    return Finding(1, seal.entries, seal.sha256, broken, seal.pk, before.last_id, seal.last_id)


def find_break(seal: AuditSeal, before: Link) -> Break | None:
    """Return how a seal differs from its entries, or None when it fits."""
    covered = entries_after(before.last_id).filter(id__lte=seal.last_id)
    found = digest(before.sha256, covered[:MAX_READ])
    return None if found == link_of(seal) else explain(seal, before, found)


def explain(seal: AuditSeal, before: Link, found: Link) -> Break:
    """Name how a seal that does not fit came to be so."""
    first = entries_after(before.last_id)[: seal.entries]  # as many as the seal counts, wherever it says that they end
    if found.sha256 == seal.sha256 or digest(before.sha256, first).sha256 == seal.sha256:
        return Break.SEAL_CHANGED  # its entries are there, it counts or ends otherwise than it did
    if found.entries < seal.entries:
        return Break.ENTRY_MISSING
    if found.entries > seal.entries:
        return Break.SEAL_MISSING if fits_after_a_lost_seal(seal, before, found) else Break.ENTRY_ADDED
    return Break.SEAL_CHANGED if fits_the_next_seal(seal, found) else Break.ENTRY_CHANGED


def fits_after_a_lost_seal(seal: AuditSeal, before: Link, found: Link) -> bool:
    """Say whether the first of the entries make the seal that led to this one."""
    covered = entries_after(before.last_id).filter(id__lte=seal.last_id)
    lost = digest(before.sha256, covered[: found.entries - seal.entries])
    return digest(lost.sha256, entries_after(lost.last_id)[: seal.entries]).sha256 == seal.sha256


def fits_the_next_seal(seal: AuditSeal, found: Link) -> bool:
    """Say whether the next seal was made over what is found here, so that only this seal's own digest is another."""
    following = AuditSeal.objects.filter(last_id__gt=seal.last_id).order_by("last_id").first()
    if following is None:
        return False
    covered = entries_after(found.last_id).filter(id__lte=following.last_id)[: following.entries]
    return digest(found.sha256, covered).sha256 == following.sha256
