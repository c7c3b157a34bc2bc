"""Read JSON strictly: no duplicate keys, no NaN, no deep nesting, no text that cannot be stored (W-19)."""

import json
import math
from typing import Any

from django.utils.translation import gettext as _

from minara_site.kernel.errors import Invalid, Malformed
from minara_site.kernel.plain_text import storable_problem

MAX_DEPTH = 64


def read_json(body: bytes) -> Any:
    """Return the value of a JSON text. Raises Malformed when it is none, Invalid when a string cannot be stored."""
    value = parse_json(body)
    check_values(value)
    return value


def parse_json(body: bytes) -> Any:
    """Return the value of a JSON text whose parts are checked one by one later. Raises Malformed when it is none."""
    try:
        return json.loads(
            body.decode("utf-8"),
            object_pairs_hook=unique_keys,
            parse_constant=refuse_constant,
            parse_float=finite_float,
        )
    except UnicodeDecodeError:
        raise Malformed(_("The body is not UTF-8.")) from None
    except json.JSONDecodeError as error:
        place = {"line": error.lineno, "column": error.colno}
        raise Malformed(_("This is not JSON: line %(line)d, column %(column)d.") % place) from None
    except RecursionError:
        raise Malformed(_("The body is nested deeper than %(depth)d levels.") % {"depth": MAX_DEPTH}) from None
    except ValueError:  # an integer of thousands of digits
        raise Malformed(_("The body has a number that is too long.")) from None


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object; two values under one name are a mistake that would silently lose one."""
    result = dict(pairs)
    if len(result) != len(pairs):
        raise Malformed(_("The body names a key twice."))
    return result


def refuse_constant(name: str) -> float:
    """Refuse NaN and Infinity, which are not JSON."""
    raise Malformed(_("%(name)s is not JSON.") % {"name": name})


def finite_float(digits: str) -> float:
    """Read a number; one that overflows is refused."""
    number = float(digits)
    if not math.isfinite(number):
        raise Malformed(_("The body has a number that is too large."))
    return number


def check_values(value: Any) -> None:
    """Walk the value without recursion. Raises Malformed beyond MAX_DEPTH, Invalid for text that cannot be stored."""
    waiting = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, str):
            problem = storable_problem(item)
            if problem is not None:
                raise Invalid(problem)
        elif isinstance(item, dict | list):
            if depth > MAX_DEPTH:
                raise Malformed(_("The body is nested deeper than %(depth)d levels.") % {"depth": MAX_DEPTH})
            children = [*item.keys(), *item.values()] if isinstance(item, dict) else item
            waiting.extend((child, depth + 1) for child in children)
