"""What a decision is about: the asset and the direction that its inputs name."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from minara_site.kernel.core.symbols import normalise_symbol
from minara_site.kernel.errors import Invalid, invalid_field
from minara_site.kernel.market.outcome import Direction
from minara_site.kernel.market.symbols import read_symbol


def find_asset(inputs: Mapping[str, Any], field: str) -> str:
    """Return the symbol of the asset that the inputs name, empty when they name none."""
    given = inputs.get(field)
    return (normalise_symbol(given) or "") if isinstance(given, str) else ""


def find_direction(inputs: Mapping[str, Any]) -> Direction | None:
    """Return the direction that the inputs name, None when they name none."""
    given = inputs.get("direction")
    return Direction(given) if isinstance(given, str) and given in list(Direction) else None


def read_asset(inputs: Mapping[str, Any], field: str) -> str:
    """Return the symbol of the asset. Raises Invalid, which says what to send, when the inputs name none."""
    given = inputs.get(field)
    if not isinstance(given, str):
        raise wrong_input(
            field,
            _("Name the asset as inputs.%(field)s, such as BTC or EUR/USD.") % {"field": field},
        )
    return read_symbol(given, field=f"inputs.{field}")


def read_direction(inputs: Mapping[str, Any]) -> Direction:
    """Return the direction. Raises Invalid when the inputs name none."""
    direction = find_direction(inputs)
    if direction is None:
        raise wrong_input("direction", _("Give inputs.direction: bullish, bearish or neutral."))
    return direction


def wrong_input(name: str, problem: str) -> Invalid:
    """Return the refusal of one input."""
    return invalid_field(f"inputs.{name}", problem)
