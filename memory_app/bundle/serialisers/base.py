"""What a serialiser is: how one kind of row becomes files, and how files become rows again.

To add a kind: a module with these functions and a line in `SERIALISERS`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from learning_app.preferences.limits import count_limits
from memory_app.bundle.core.fields import Fields
from memory_app.bundle.core.front_matter import UnusableError
from memory_app.bundle.core.plan import SCHEMA_VERSION, Channel, FilePlan, Reason, Verdict
from minara_site.access.models import User
from minara_site.kernel.errors import Invalid

SLICE = 500
AnyRow = TypeVar("AnyRow", bound=Model)
WhatFileSays = TypeVar("WhatFileSays")


class LeftOut(StrEnum):
    """Why something stays out of an export."""

    CONSTRAINTS = "constraints"
    HELD = "held"
    IN_TRASH = "in_trash"
    RETIRED = "retired"
    METHODOLOGIES = "methodologies"


@dataclass(frozen=True, slots=True)
class OutFile:
    """A file of an export."""

    path: str
    content: bytes


@dataclass(frozen=True)
class ExportScope:
    """What an export is to hold, who reads it, and what it left out so far.

    Only one `by_operator` holds what belongs to the instance.
    """

    owner: User
    reader: User
    instance_id: str
    include_constraints: bool
    now: datetime
    by_operator: bool = False
    left_out: Counter[LeftOut] = field(default_factory=Counter)

    @property
    def is_masked(self) -> bool:
        """Whether somebody else than the owner reads it: then secrets are masked, and no file says what is stored."""
        return self.reader.pk != self.owner.pk

    def head(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Return the front matter of a file: what every one begins with, then its fields that are not empty."""
        return {
            "schema_version": SCHEMA_VERSION,
            "instance_id": self.instance_id,
            "kind": kind,
            **{name: value for name, value in fields.items() if value not in (None, "", [])},
        }


@dataclass(frozen=True, slots=True)
class InFile:
    """A file of a bundle in its parts. `is_ours` says that it names this instance, whoever changed it since."""

    path: str
    channel: Channel
    fields: Fields
    body: str
    is_ours: bool

    def rejected(
        self,
        reason: Reason,
        about: str = "",
        *,
        kind: str = "",
    ) -> FilePlan:
        """Return the plan of a file that cannot be imported."""
        return FilePlan(self.path, self.channel, Verdict.REJECTED, kind, reason, about)

    def known(
        self,
        reason: Reason,
        about: str,
        *,
        kind: str,
        stored: Mapping[str, Any] | None = None,
    ) -> FilePlan:
        """Return the plan of a file that brings nothing new."""
        return FilePlan(self.path, self.channel, Verdict.KNOWN, kind, reason, about, stored=stored)


@dataclass(frozen=True)
class Reading:
    """One reading of a bundle: for whom, when, whether a person approved hard constraints, and what it found so far.

    Only one `by_operator` changes what belongs to the instance; only one `by_owner` puts a preference in force.

    `seen` holds the path at which a text, by its hash, stood first; `settled` the keys of facts that came settled,
    `limits` the paths of those that were found.
    """

    owner: User
    now: datetime
    approves: bool
    by_operator: bool = False
    by_owner: bool = False
    seen: dict[bytes, str] = field(default_factory=dict)
    settled: set[bytes] = field(default_factory=set)
    limits: set[str] = field(default_factory=set)

    @cached_property
    def limits_before(self) -> int:
        """How many limits the owner had when this began."""
        return count_limits(self.owner.pk)


@dataclass(frozen=True, slots=True)
class Judged:
    """The plan of a file, and what its serialiser needs to carry it out."""

    plan: FilePlan
    payload: Any = None


@dataclass(frozen=True, slots=True)
class Writing:
    """Who imports, for whom, when, the run that roll-back knows it by, and what the file or folder is called."""

    owner: User
    actor: str
    now: datetime
    run: str
    file: str = ""


Details = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Serialiser:
    """One kind of file. `place` is its one file, or with a slash at the end the folder of all of them.

    `judge` returns a plan for each file, in order; it writes nothing. `store` writes what these plans say, in the
    caller's transaction, and returns what the audit row of each file adds: ids and counts. Kinds without them are
    exported only. `names` are what its files may call themselves instead of the kind.
    """

    kind: str
    place: str
    export: Callable[[ExportScope], Iterator[OutFile]]
    judge: Callable[[Sequence[InFile], Reading], list[Judged]] | None = None
    store: Callable[[Sequence[Judged], Writing], list[Details]] | None = None
    names: tuple[str, ...] = ()

    def owns(self, path: str) -> bool:
        """Say whether a path is one of this kind."""
        return path.startswith(self.place) if self.place.endswith("/") else path == self.place


def read_or_reject(
    file: InFile,
    reading: Reading,
    read: Callable[[InFile, Reading], WhatFileSays],
    *,
    kind: str,
) -> WhatFileSays | FilePlan:
    """Return what a file says, or the plan of one that says nothing which can be stored."""
    try:
        return read(file, reading)
    except UnusableError as error:
        return file.rejected(error.reason, error.about, kind=kind)
    except Invalid as error:
        return file.rejected(
            Reason.WRONG_VALUE,
            error.errors[0].field,
            kind=kind,
        )


def slices(rows: QuerySet[AnyRow]) -> Iterator[list[AnyRow]]:
    """Yield the rows by id, a slice in memory at a time."""
    last = 0
    while chosen := list(rows.filter(pk__gt=last).order_by("pk")[:SLICE]):
        last = chosen[-1].pk
        yield chosen
