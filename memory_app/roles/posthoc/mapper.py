"""The little language of `paramMapper`: `asset→symbol, side->direction`. Source: S0 (postHocProbes). Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from memory_app.roles.core.inputs import scalars_of

MAX_VALUE_CHARS = 200
_PAIR = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\u2192|->)\s*([A-Za-z_]\w*)\s*")


def parse_mapper(text: str) -> list[tuple[str, str]]:
    """Return the pairs of input and parameter. Raises ValueError for anything else than such pairs."""
    if not text.strip():
        return []
    found = [_PAIR.fullmatch(part) for part in text.split(",")]
    if not all(found):
        raise ValueError(f"{text!r} is no list of pairs such as asset\u2192symbol")
    return [(match[1], match[2]) for match in found if match]


def map_parameters(
    text: str,
    inputs: Mapping[str, Any],
    parameters: Sequence[str],
) -> dict[str, str]:
    """Return what a tool is given: the mapped inputs, or without a mapper those that are named like its parameters.

    Only scalars are handed on, cut to a bound. Raises ValueError for a mapper that cannot be read or that names a
    parameter which the tool does not take.
    """
    pairs = parse_mapper(text) or [(name, name) for name in parameters]
    scalars = scalars_of(inputs)
    unknown = [parameter for _source, parameter in pairs if parameter not in parameters]
    if unknown:
        raise ValueError(f"the tool takes no {unknown[0]}")
    return {parameter: scalars[source][:MAX_VALUE_CHARS] for source, parameter in pairs if source in scalars}
