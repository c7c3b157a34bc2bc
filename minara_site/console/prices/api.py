"""`/v1/prices`: what something cost at a moment; `/v1/symbols`: what a symbol is read as. Shapes: the contract."""

from typing import Annotated, Any

from django.utils import timezone
from ninja import Body, Query, Schema, Status
from pydantic import AfterValidator, BeforeValidator, Field

from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.market.core import Point
from minara_site.kernel.market.services import MAX_POINTS, record_points
from minara_site.kernel.market.symbols import describe_symbol, read_symbol, require_symbol
from minara_site.shell.pages import PageRequest, done_by
from minara_site.web.schemas import Data, Strict, SymbolOut
from minara_site.web.values import Moment, Price

router = ApiRouter(tags=["prices"])

Symbol = Annotated[str, AfterValidator(require_symbol)]


class NewPrice(Strict):
    """What one unit cost: of BTC in US dollars, of ETH/BTC in BTC. `ts` is ISO 8601, or Unix s or ms."""

    symbol: Symbol
    price: Price
    ts: Moment


NewPrices = Annotated[
    list[NewPrice],
    BeforeValidator(
        lambda value: [value] if isinstance(value, dict) else value,
        json_schema_input_type=NewPrice | list[NewPrice],
    ),
    Field(min_length=1, max_length=MAX_POINTS),
]


class SymbolQuery(Strict):
    """What to read, such as BTC-USDT-PERP, NASDAQ:AAPL or TSE:7203."""

    text: str


class PricesStored(Schema):
    """How many prices are new, how many replace another of the same symbol and time, how many stood there already.

    `doubted` of the first two are more than 20 times away from the one before within an hour: they judge nothing until
    the next within an hour agrees within 2 times, or an operator confirms them.
    """

    new: int
    corrected: int
    unchanged: int
    doubted: int


@router.post(
    "/prices",
    "Say what something cost",
    Act.PRICES_WRITE,
    {202: Data[PricesStored]},
)
def post(request: PageRequest, payload: Body[NewPrices]) -> Status[dict[str, Any]]:
    """Store one price, or up to 1 000, all or none; decisions of roles that wait for one are looked at.

    An operator's key speaks for the instance, every other key for its owner's decisions only.
    """
    principal = request.principal
    counts = record_points(
        points=[Point(each.symbol, each.ts, each.price) for each in payload],
        owner_id=None if principal.is_operator else principal.owner.pk,
        source=principal.actor,
        **done_by(request),
    )
    stored = {
        "new": counts.new,
        "corrected": counts.corrected,
        "unchanged": counts.unchanged,
        "doubted": counts.doubted,
    }
    return Status(202, {"data": stored})


@router.get(
    "/symbols",
    "Read a symbol",
    Act.SYMBOLS_READ,
    Data[SymbolOut],
)
def read(request: PageRequest, query: Query[SymbolQuery]) -> dict[str, Any]:
    """Say which asset a spelling means and whether a price of it is known; a 422 says what to send instead."""
    symbol = read_symbol(query.text, field="text")
    return {"data": describe_symbol(query.text, symbol, request.principal.owner.pk, now=timezone.now())}
