"""What an import would do. Reading writes nothing, also no audit row (R-24)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.conf import settings

from memory_app.bundle.adapters import Bundle
from memory_app.bundle.core.fields import Fields
from memory_app.bundle.core.front_matter import UnusableError, parse_document
from memory_app.bundle.core.paths import SIGNATURE
from memory_app.bundle.core.plan import Channel, FilePlan, ImportPlan, Reason, Tally, Verdict
from memory_app.bundle.core.signature import Signatures, is_signed, parse_signatures
from memory_app.bundle.serialisers import SERIALISERS
from memory_app.bundle.serialisers.base import InFile, Judged, Reading, Serialiser
from minara_site.access.models import User
from minara_site.kernel.instance.services import find_hmac_key, fingerprint

SLICE = 200  # a slice is judged and written while other writers wait
MAX_FILE_BYTES = 256 * 1024  # front matter and the longest text, several times over
NOT_IMPORTED = ("index.md", "README.md")


@dataclass(frozen=True, slots=True)
class Part:
    """Some files of one kind in a row, in the order of their paths; without a serialiser nobody knows the kind."""

    serialiser: Serialiser | None
    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class Trust:
    """By what this instance knows the files that it wrote for this owner."""

    key: bytes | None
    owner_id: int
    signatures: Signatures

    @property
    def instance_id(self) -> str:
        """The fingerprint of the key, empty before the first export."""
        return fingerprint(self.key) if self.key else ""


def plan_import(
    *,
    owner: User,
    bundle: Bundle,
    now: datetime,
    approve_hard_constraints: bool = False,
    by_operator: bool = False,
    by_owner: bool = False,
    most_files: int | None = None,
) -> ImportPlan:
    """Return what an import would do, with at most `most_files` files of each verdict listed; None lists all.

    `approve_hard_constraints` is a person's word: a door passes it only for somebody at a terminal, or after
    re-authentication and a typed value. With MINARA_NON_INTERACTIVE it counts for nothing. Without `by_operator`
    nothing that belongs to the instance is imported, without `by_owner` no preference is active. Raises BundleRefused.
    """
    reading = new_reading(
        owner,
        now,
        approves=approve_hard_constraints,
        by_operator=by_operator,
        by_owner=by_owner,
    )
    trust, tally = load_trust(bundle, owner), Tally()
    listed: list[FilePlan] = []
    for part in list_parts(bundle):
        for judged in judge_part(part, bundle, trust, reading):
            tally.add(judged.plan)
            if most_files is None or tally.verdicts[judged.plan.verdict] <= most_files:
                listed.append(judged.plan)
    return ImportPlan(
        files=tuple(listed),
        verdicts=tally.verdicts,
        channels=tally.channels,
        ignored=len(bundle.names) - tally.verdicts.total(),
        constraints=tally.constraints,
        sha256=tally.sha256(str(owner.pk)),
        marks=tally.marks,
    )


def new_reading(
    owner: User,
    now: datetime,
    *,
    approves: bool,
    by_operator: bool,
    by_owner: bool,
) -> Reading:
    """Return the beginning of a reading; where nobody is at the terminal, nobody approved anything."""
    return Reading(
        owner,
        now,
        approves and not settings.MINARA.minara_non_interactive,
        by_operator,
        by_owner,
    )


def load_trust(bundle: Bundle, owner: User) -> Trust:
    """Return the key of this instance, if it has one, and what the bundle's signature file says."""
    names = frozenset(bundle.names)
    signatures = parse_signatures(bundle.read(SIGNATURE), names) if SIGNATURE in names else {}
    return Trust(find_hmac_key(), owner.pk, signatures)


def list_parts(bundle: Bundle) -> Iterator[Part]:
    """Yield what an import looks at: markdown files but for the index, banners and kinds that are exported only."""
    names = [name for name in bundle.names if name.endswith(".md") and name.split("/")[-1] not in NOT_IMPORTED]
    for serialiser, group in groupby(
        names,
        lambda name: next((each for each in SERIALISERS if each.owns(name)), None),
    ):
        if serialiser is None or serialiser.judge:
            same = list(group)
            for start in range(0, len(same), SLICE):
                yield Part(serialiser, same[start : start + SLICE])


def judge_part(
    part: Part,
    bundle: Bundle,
    trust: Trust,
    reading: Reading,
) -> list[Judged]:
    """Return the plan of each file of a part, in order."""
    files = [read_file(name, part.serialiser, bundle, trust) for name in part.names]
    readable = [file for file in files if isinstance(file, InFile)]
    judge = part.serialiser and part.serialiser.judge
    judged = iter(judge(readable, reading) if judge else ())
    return [next(judged) if isinstance(file, InFile) else Judged(file) for file in files]


def read_file(
    name: str,
    serialiser: Serialiser | None,
    bundle: Bundle,
    trust: Trust,
) -> InFile | FilePlan:
    """Return a file in its parts, or the plan of one that cannot be read."""
    if serialiser is None:
        return FilePlan(
            name,
            Channel.UNSIGNED,
            Verdict.REJECTED,
            reason=Reason.UNKNOWN_KIND,
        )
    try:
        content = bundle.read(name)
        document = parse_document(content, most=MAX_FILE_BYTES)
        fields = Fields(document.fields)
        fields.check_kind(*(serialiser.names or (serialiser.kind,)))
        is_ours = fields.instance_id() == trust.instance_id != ""
    except UnusableError as error:
        return FilePlan(name, Channel.UNSIGNED, Verdict.REJECTED, serialiser.kind, error.reason, error.about)
    digests = trust.signatures.get(name, ())
    is_known = is_ours and trust.key and is_signed(trust.key, trust.owner_id, name, content, digests)
    return InFile(
        name,
        Channel.SIGNED if is_known else Channel.UNSIGNED,
        fields,
        document.body,
        is_ours,
    )
