"""Shapes that every API operation shares: the envelope, the page of a list, and strict inputs."""

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from django.utils.translation import gettext as _
from ninja import Schema
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from minara_site.kernel.core.assets import AssetClass
from minara_site.kernel.core.symbols import How, SymbolKind
from minara_site.kernel.errors import FieldError, Invalid

T = TypeVar("T")
ONE, MANY = SHAPES = "(one)", "(list)"
"""How a body is tagged that may be one object or a list of them; no caller names a field so."""


class Strict(Schema):
    """An input: a field that nobody knows is a mistake, never silently dropped (W-03)."""

    model_config = ConfigDict(extra="forbid")


class Record(BaseModel):
    """A row of an answer, given as a dict; ninja's `Schema` takes ten times as long to read one."""


class Data(Schema, Generic[T]):
    """The envelope of an answer."""

    ok: Literal[True] = True
    data: T


class Deleted(Schema):
    """What was asked for counts no more; where it can be restored, its page says so."""

    ok: Literal[True] = True
    deleted: Literal[True] = True


class Items(Schema, Generic[T]):
    """A page of a list; `next_cursor` is null on the last one."""

    items: list[T]
    next_cursor: str | None


class RunOut(Schema):
    """The run that does what was asked for."""

    run_id: int


class ProposedOut(Schema):
    """What a key asked for and its owner decides on: `action`, and what became of it."""

    action: str
    state: Literal["open", "approved", "rejected", "replaced"]
    note: str = ""


class WasProposed(Schema):
    """A change that its owner decides on: nothing was changed. A later one of the same key and row replaces it.

    `id` names what it is about.
    """

    ok: Literal[True] = True
    id: int | str
    proposed: ProposedOut


class HeldOut(Schema):
    """Why the guard holds a text: the reason and the rule, and from which character to which; `note` says what is next.

    Characters count in the text that was judged: a statement first, then fact_type, tickers and metadata; of a
    profile value the line `key: value`.
    """

    reason: str
    span: list[int]
    rule: str
    note: str


class PriceKnownOut(Record):
    """Whether a price that could judge is stored, or comes from the configured source; the newest stored one."""

    known: bool
    newest_at: datetime | None
    source: str | None


class SymbolOut(Record):
    """What a symbol was read as: `asset` is what a price judges, in dollars, or of a pair in its second half."""

    text: str
    asset: str
    kind: SymbolKind
    asset_class: AssetClass | None
    how: How
    price: PriceKnownOut


class Written(Schema):
    """A text was stored."""

    ok: Literal[True] = True
    id: int


class WrittenHeld(Written):
    """A text was stored and waits for an operator."""

    held: HeldOut


class Repeated(Schema):
    """What an equal call of the same key stored within the last ten minutes; this one stored nothing."""

    repeated: Literal[True]


class OwnerQuery(Strict):
    """Operators' keys may name another owner; `all` is everybody."""

    @model_validator(mode="before")
    @classmethod
    def refuse_unknown(cls, values: Any, info: ValidationInfo) -> Any:
        """Refuse a parameter that nobody knows: django-ninja would drop it. Raises Invalid."""
        known = {field.alias or name for name, field in cls.model_fields.items()}
        unknown = sorted(set(info.context["request"].GET) - known) if info.context else []
        if unknown:
            problem = _("There is no such parameter here.")
            raise Invalid(
                problem,
                errors=tuple(FieldError(name[:80], problem) for name in unknown[:20]),
            )
        return values

    owner: Annotated[str | None, Field(max_length=150)] = None


class PageQuery(OwnerQuery):
    """Which page of a list."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str | None, Field(max_length=2000)] = None
