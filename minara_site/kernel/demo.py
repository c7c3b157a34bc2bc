"""The demo: what a part of it declares, and the load in which it runs. Parts are in the apps' `demo.py`.

Rows carry the dates of the demo's story; the audit log says what truly happened: a demo was loaded, now.
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from django.db.models import QuerySet
from django.dispatch import Signal
from django.utils.functional import Promise
from pydantic import BaseModel, model_validator

from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.events import send_after_commit

AGENT_KEY = "key:demo"
DemoAct = tuple[datetime, Callable[[], object]]
"""What is to be done, after the moment of the story at which it happened."""


@dataclass(frozen=True, slots=True)
class DemoLoad:
    """A load or a removal. `people` are users by the names that data files give them.

    `mark` remembers rows of tables without a column `is_demo`; `marked` returns those of a model that are left.
    What was written after `loaded_at` is no longer the demo's.
    """

    now: datetime
    actor: str
    people: Mapping[str, Any]
    mark: Callable[..., None]
    marked: Callable[[type[Any]], "QuerySet[Any]"]
    loaded_at: datetime

    def ago(self, hours: float) -> datetime:
        """Return the moment so many hours before the load."""
        return self.now - timedelta(hours=hours)


@dataclass(frozen=True, slots=True)
class RemovedRows:
    """What a removal did to rows of one kind: how many it took away, and how many stay because of what was written."""

    label: str | Promise
    gone: int
    kept: int = 0


class DemoRow(BaseModel, frozen=True, extra="forbid"):
    """A row of a data file with ages in hours before the load; the file may give them in days."""

    hours_ago: float

    @model_validator(mode="before")
    @classmethod
    def in_hours(cls, row: dict[str, Any]) -> dict[str, Any]:
        """Return the row with every `days_ago` as `hours_ago`."""
        ages = {key: days * 24 for key, days in row.items() if key.endswith("days_ago")}
        return {key.replace("days_ago", "hours_ago"): ages.get(key, value) for key, value in row.items()}


Row = TypeVar("Row", bound=DemoRow)


def read_rows(
    row: type[Row],
    package: str,
    name: str = "demo.toml",
) -> dict[str, list[Row]]:
    """Return the rows of a data file by the name of their owner."""
    return {owner: [row(**each) for each in rows] for owner, rows in load_toml(package, name).items()}


def delete_rows(label: str | Promise, rows: "QuerySet[Any]", kept: int = 0) -> RemovedRows:
    """Delete rows of the demo and return how many of them were there, beside those that stay."""
    removed = RemovedRows(label, rows.count(), kept)
    rows.delete()
    return removed


def publish_rows(event: Signal, argument: str, rows: "QuerySet[Any]") -> None:
    """Send an event after commit for each owner of rows, with the ids of the rows as this argument."""
    found = defaultdict(list)
    for owner_id, pk in rows.order_by("pk").values_list("owner_id", "pk"):
        found[owner_id].append(pk)
    for owner_id, ids in found.items():
        send_after_commit(event, owner_id=owner_id, **{argument: tuple(ids)})


class DemoPart(ABC, Generic[Row]):
    """Rows of one room, by the name of their owner."""

    name: ClassVar[str]
    rows: Mapping[str, Sequence[Row]]

    def acts(self, load: DemoLoad) -> Iterator[DemoAct]:
        """Yield what is to be done; the acts of all parts are done in the order of their moments."""
        for name, rows in self.rows.items():
            for row in rows:
                yield load.ago(row.hours_ago), partial(self.store, load, load.people[name], row)

    @abstractmethod
    def store(self, load: DemoLoad, owner: Any, row: Row) -> None:
        """Store a row."""

    @abstractmethod
    def remove(self, load: DemoLoad) -> Sequence[RemovedRows]:
        """Delete the rows and whatever refers to them; the parts after this one are removed already.

        What a person or an agent has changed since the load stays and is the demo's no longer. A preview rolls it back.
        """

    def delete_elsewhere(self, load: DemoLoad, owner_ids: Sequence[int]) -> None:
        """Delete rows in another database, where no roll-back reaches: the demo's and of owners who go with it."""
