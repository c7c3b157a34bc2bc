"""What the demo says, of two people. The texts are in `default.toml` and `mei.toml`, the shape of a row is here."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, model_validator

from memory_app.roles.core import Classification, SkipReason
from memory_app.search.core.surfaces import Surface
from minara_site.kernel.core.data_files import load_toml
from minara_site.kernel.core.vocabulary import Category, Source
from minara_site.kernel.market.outcome import Direction

DAY = 24.0
SWEEP_AFTER = 0.25


class DemoRow(BaseModel):
    """One table of the files; a key that it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DatedRow(DemoRow):
    """A row with ages in hours before the load; the files may give them in days."""

    hours_ago: float

    @model_validator(mode="before")
    @classmethod
    def in_hours(cls, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row with every `days_ago` as `hours_ago`."""
        return {
            key.replace("days_ago", "hours_ago"): value * DAY if "days_ago" in key else value
            for key, value in row.items()
        }


class DemoMemory(DatedRow):
    """One memory. `before` are its earlier texts, oldest first; `deleted_hours_ago` puts it into the trash.

    Of facts: one that `waits` is not swept yet; `gave_way_to` is the text of the fact in whose favour the sweep retired
    it.
    """

    category: Category
    source: Source
    text: str
    tickers: tuple[str, ...] = ()
    origin: str = ""
    fact_type: str = ""
    before: tuple[str, ...] = ()
    deleted_hours_ago: float | None = None
    waits: bool = False
    gave_way_to: str = ""

    @property
    def settled_hours_ago(self) -> float | None:
        """When a sweep came, a quarter of an hour after the fact was recorded; None for what was not swept."""
        return self.hours_ago - SWEEP_AFTER if self.category is Category.FACT and not self.waits else None


class DemoSearch(DatedRow):
    """One search of an agent that returned the newest memories with this word."""

    surface: Surface
    query: str
    word: str


class DemoTurn(DemoRow):
    """One turn of a session, minutes after the one before; of a tool call its name, arguments and whether it worked."""

    user: str
    assistant: str
    tools: tuple[tuple[str, dict[str, JsonValue], bool], ...] = ()
    completed: bool = True


class DemoSession(DatedRow):
    """A session that began this long ago; one that `is_over` has lost the text of its prompt."""

    title: str
    turns: tuple[DemoTurn, ...]
    is_over: bool = False


class DemoDecision(DemoRow):
    """One decision. With a class it has been reflected; `lesson` is what Stage 2 said.

    `missing_inputs` are stored as None. `closes`: the sweep has judged its price. `marked` is what a person said of one
    without a probe, with the change in percent and a note. `backdated_days` is how much later it was recorded, `shadow`
    the lesson that shadow mode had.
    """

    days_ago: float
    role: str
    text: str
    asset: str = ""
    direction: Direction | None = None
    inputs: dict[str, JsonValue]
    missing_inputs: tuple[str, ...] = ()
    closes: bool = True
    classification: Classification | None = None
    narrative: str = ""
    lesson: str = ""
    headlines: tuple[str, ...] = ()
    marked: tuple[bool, float, str] | None = None
    skipped: SkipReason | None = None
    error: str = ""
    backdated_days: float = 0
    shadow: str = ""


class DemoPerson(DemoRow):
    """All that the demo says of one owner; `conflict` are the texts of two facts that contradict, the older first."""

    profile: dict[str, str]
    memories: tuple[DemoMemory, ...]
    conflict: tuple[str, str]
    searches: tuple[DemoSearch, ...]
    sessions: tuple[DemoSession, ...]
    decisions: tuple[DemoDecision, ...]


DEFAULT_PERSON = DemoPerson(**load_toml(__package__, "default.toml"))
MEI_PERSON = DemoPerson(**load_toml(__package__, "mei.toml"))
