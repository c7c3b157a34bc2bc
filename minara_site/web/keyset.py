"""Keyset pages: a page begins after the last row of the one before, so inserts never shift rows.

Pages and the HTTP API cut their lists here. A cursor is the signed place of a row (screens U-08, trust W-21):
it names the list and the order it was cut from and is refused by any other.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from django.core import signing
from django.core.exceptions import ValidationError
from django.db.models import Field, Model, Q, QuerySet
from django.utils.translation import gettext as _

from minara_site.kernel.errors import Malformed

Row = TypeVar("Row", bound=Model)


class BadCursor(Malformed):
    """The cursor was not made by this list, or was changed on its way."""

    code = "bad_cursor"


@dataclass(frozen=True, slots=True)
class Order:
    """Rows by one column that is never null, ties by the primary key in the same direction."""

    field: str = "pk"
    descending: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        sign = "-" if self.descending else ""
        return (f"{sign}pk",) if self.field == "pk" else (f"{sign}{self.field}", f"{sign}pk")

    def after(self, value: Any, pk: Any) -> Q:
        """Return the rows behind this place, as a range on the first column that an index can walk."""
        side = "lt" if self.descending else "gt"
        behind = Q(**{f"pk__{side}": pk})
        if self.field == "pk":
            return behind
        return Q(**{f"{self.field}__{side}e": value}) & (Q(**{f"{self.field}__{side}": value}) | behind)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Rows of one page, the cursor of the next (None at the end), and how many rows stood before it."""

    items: list[Row]
    next_cursor: str | None
    offset: int


def paginate(
    queryset: "QuerySet[Row]",
    order: Order,
    *,
    cursor: str | None = None,
    limit: int,
    scope: str = "",
) -> Page[Row]:
    """Cut one page out of `queryset`.

    `scope` names the list; a cursor serves only the list and order that made it. Raises BadCursor.
    """
    signer = signing.Signer(salt=f"keyset:{scope}:{','.join(order.columns)}")
    offset = 0
    if cursor:
        value, pk, offset = read_place(cursor, signer, queryset.model, order)
        queryset = queryset.filter(order.after(value, pk))
    rows = list(queryset.order_by(*order.columns)[: limit + 1])
    items = rows[:limit]
    if len(rows) <= limit:
        return Page(items, None, offset)
    value = getattr(items[-1], order.field)
    written = value.isoformat() if isinstance(value, datetime) else value
    return Page(
        items,
        signer.sign_object([written, items[-1].pk, offset + limit]),
        offset,
    )


def read_place(
    cursor: str,
    signer: signing.Signer,
    model: type[Model],
    order: Order,
) -> tuple[Any, Any, int]:
    """Return value, id and offset of a cursor. Raises BadCursor."""
    key = model._meta.pk  # noqa: SLF001 - Django's public Meta API; a session's id is text
    column = key if order.field == "pk" else cast("Field[Any, Any]", model._meta.get_field(order.field))  # noqa: SLF001
    try:
        written, pk, offset = signer.unsign_object(cursor)
        value, pk, offset = column.to_python(written), key.to_python(pk), int(offset)
    except (signing.BadSignature, ValidationError, ValueError, TypeError):
        raise bad_cursor() from None
    if value is None or pk is None:
        raise bad_cursor()
    return value, pk, offset


def bad_cursor() -> BadCursor:
    """Return the refusal of a cursor."""
    return BadCursor(_("This cursor is not valid here. Ask for the list without a cursor."))


def write_number(number: int, *, scope: str) -> str:
    """Return the cursor of a list that is walked by a number of its own, such as the versions of a row."""
    return signing.Signer(salt=f"keyset:{scope}").sign_object(number)


def read_number(cursor: str | None, *, scope: str) -> int | None:
    """Return the number of such a cursor, None without one. Raises BadCursor."""
    try:
        return int(signing.Signer(salt=f"keyset:{scope}").unsign_object(cursor)) if cursor else None
    except signing.BadSignature:
        raise bad_cursor() from None
