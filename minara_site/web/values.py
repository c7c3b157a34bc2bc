"""Numbers and moments as calls send them: read as files of prices are, and refused in a sentence."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator

from minara_site.kernel.market.core.values import UnusableError, read_amount, read_moment, read_price
from minara_site.kernel.market.labels import fault_sentence


def said_plainly(read: Callable[[Any], Any]) -> BeforeValidator:
    """Return the validator of a reader whose refusal is a sentence."""

    def read_or_say(value: Any) -> Any:
        try:
            return read(value if isinstance(value, str | int | float) else None)
        except UnusableError as problem:
            raise ValueError(fault_sentence(problem)) from None

    return BeforeValidator(read_or_say, json_schema_input_type=str | float)


Price = Annotated[Decimal, said_plainly(read_price)]
Amount = Annotated[Decimal, said_plainly(read_amount)]
"""A number of either sign."""
Moment = Annotated[datetime, said_plainly(read_moment)]


def plain_number(number: Decimal | None) -> str | None:
    """Return a number as answers give it: all of its digits, no exponent and no zeros behind; None stays None."""
    return None if number is None else f"{number.normalize():f}"
