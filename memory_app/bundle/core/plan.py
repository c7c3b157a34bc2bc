"""What an import would do, file by file, and the hash that binds apply to what was shown. Source: S1, screens U-22."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from learning_app.vocabulary import PreferenceKind
from memory_app.memories.core import is_hard_constraint

SCHEMA_VERSION = 1
MARK_CHARS = 8


class Channel(StrEnum):
    """How far a file is trusted: A is signed by this instance and unchanged, B is everything else (S1)."""

    SIGNED = "signed"
    UNSIGNED = "unsigned"


class Verdict(StrEnum):
    """What becomes of a file. `known` and `rejected` write nothing; `held` is stored and waits for an operator."""

    NEW = "new"
    UPDATED = "updated"
    HELD = "held"
    KNOWN = "known"
    REJECTED = "rejected"


WRITTEN = frozenset({Verdict.NEW, Verdict.UPDATED, Verdict.HELD})
UNCLEAN = frozenset({Verdict.REJECTED, Verdict.HELD})


class Reason(StrEnum):
    """Why a file has its verdict; `about` of the file plan names the field, the id or the other file."""

    NONE = ""
    UNKNOWN_KIND = "unknown_kind"
    TOO_LARGE = "too_large"
    NOT_UTF8 = "not_utf8"
    NO_FRONT_MATTER = "no_front_matter"
    FRONT_MATTER_TOO_LARGE = "front_matter_too_large"
    NOT_YAML = "not_yaml"
    TOO_DEEP = "too_deep"
    ALIAS = "alias"
    TAG = "tag"
    DUPLICATE_KEY = "duplicate_key"
    NOT_FINITE = "not_finite"
    OTHER_SCHEMA = "other_schema"
    UNKNOWN_FIELD = "unknown_field"
    MISSING_FIELD = "missing_field"
    WRONG_VALUE = "wrong_value"
    WRONG_FOLDER = "wrong_folder"
    FUTURE = "future"
    HARD_CONSTRAINT = "hard_constraint"
    LIMITS_FULL = "limits_full"
    PROFILE_FULL = "profile_full"
    STORED = "stored"
    STORED_HELD = "stored_held"
    IN_TRASH = "in_trash"
    RETIRED = "retired"
    EARLIER_VERSION = "earlier_version"
    REPEATED = "repeated"
    SAYS_OTHERWISE = "says_otherwise"
    ALREADY_SAID = "already_said"
    VALUES_STAY = "values_stay"
    GUARD = "guard"
    OPERATORS_ONLY = "operators_only"
    COUNTS_DIFFER = "counts_differ"
    KEEPS_TRUST = "keeps_trust"
    SAME_METHOD = "same_method"
    SEEN_AGAIN = "seen_again"
    SAME_PREFERENCE = "same_preference"
    PROPOSED = "proposed"
    STAYS_ACTIVE = "stays_active"


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What becomes of one file.

    `row` is what would be written: of a memory its columns, times None where they would be those of the import; of the
    user profile `{"entries": {key: value}}`. `stored` is what the owner has under the same id or names and says
    otherwise, with `id` for a memory; it is left as it is. `kind` is empty for a file of no known kind.
    """

    path: str
    channel: Channel
    verdict: Verdict
    kind: str = ""
    reason: Reason = Reason.NONE
    about: str = ""
    row: Mapping[str, Any] | None = None
    stored: Mapping[str, Any] | None = None

    @property
    def is_constraint(self) -> bool:
        """Whether a hard constraint would be written, or is rejected as one."""
        row = self.row or {}
        is_hard = is_hard_constraint(str(row.get("fact_type", ""))) or row.get("kind") == PreferenceKind.HARD_CONSTRAINT
        return self.reason is Reason.HARD_CONSTRAINT or is_hard

    def digest(self) -> bytes:
        """Return the SHA-256 of the canonical form: sorted keys, no blanks; words of a language are no part of it."""
        plain = {name: getattr(self, name) for name in FILE_PLAN_FIELDS}
        canonical = json.dumps(plain, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).digest()


FILE_PLAN_FIELDS = tuple(each.name for each in fields(FilePlan))


@dataclass(frozen=True)
class ImportPlan:
    """What an import would do. `files` are in the order of their paths, of each verdict as many as were asked for.

    `ignored` counts files that are no import's concern, such as the index; `constraints` those that are rejected
    because they are hard constraints. `sha256` covers every file, listed or not; `marks` has the beginning of each
    one's own hash.
    """

    files: tuple[FilePlan, ...]
    verdicts: Mapping[Verdict, int]
    channels: Mapping[Channel, int]
    ignored: int
    constraints: int
    sha256: str
    marks: str

    @property
    def count(self) -> int:
        """How many files have a verdict."""
        return sum(self.verdicts.values())

    @property
    def writes(self) -> int:
        """How many files would be written."""
        return count_of(WRITTEN, self.verdicts)

    @property
    def is_clean(self) -> bool:
        """Whether nothing is rejected and nothing held."""
        return not count_of(UNCLEAN, self.verdicts)


@dataclass(frozen=True)
class ImportReport:
    """What an import did: the run that roll-back knows it by, and files by verdict and by channel."""

    run: str
    verdicts: Mapping[Verdict, int]
    channels: Mapping[Channel, int]

    @property
    def writes(self) -> int:
        """How many files were written."""
        return count_of(WRITTEN, self.verdicts)


@dataclass(frozen=True)
class ExportReport:
    """What an export wrote: the folder, files by kind, what was left out by reason, and who signed it, if anybody."""

    folder: str
    files: Mapping[str, int]
    left_out: Mapping[str, int]
    instance_id: str
    is_signed: bool


@dataclass
class Tally:
    """Counts files while they pass, and hashes them in their order."""

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    channels: Counter[Channel] = field(default_factory=Counter)
    constraints: int = 0
    digests: list[bytes] = field(default_factory=list)

    def add(self, plan: FilePlan) -> None:
        """Take a file into account."""
        self.verdicts[plan.verdict] += 1
        self.channels[plan.channel] += 1
        self.constraints += plan.reason is Reason.HARD_CONSTRAINT
        self.digests.append(plan.digest())

    @property
    def marks(self) -> str:
        """The beginnings of the files' hashes, each as long as `MARK_CHARS`."""
        return "".join(map(mark_of, self.digests))

    def sha256(self, *binding: str) -> str:
        """Return the hash over all files and over what else the plan depends on."""
        head = json.dumps(binding).encode()
        return hashlib.sha256(head + b"".join(self.digests)).hexdigest()


def count_of(some: Collection[Verdict], verdicts: Mapping[Verdict, int]) -> int:
    """Return how many files have one of these verdicts."""
    return sum(verdicts.get(verdict, 0) for verdict in some)


def mark_of(digest: bytes) -> str:
    """Return the beginning of a file's hash."""
    return digest.hex()[:MARK_CHARS]
