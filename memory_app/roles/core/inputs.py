"""What a decision was based on: a JSON object of bounded size. Source: S0 (role memory entry). Pure.

Any scalar of it can stand in a role's prompt as a placeholder (`{asset}`), so names are plain.
"""

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from minara_site.kernel.core.nested import leaves

MAX_CHARS = 8_000
MAX_DEPTH = 6
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class Problem(StrEnum):
    """Why inputs cannot be kept."""

    NO_OBJECT = "no_object"
    TOO_DEEP = "too_deep"
    NAMES = "names"
    KINDS = "kinds"
    NUL = "nul"
    TOO_LONG = "too_long"


def inputs_problem(inputs: object) -> Problem | None:
    """Return what is wrong with a decision's inputs, None when they can be kept."""
    if not isinstance(inputs, Mapping):
        return Problem.NO_OBJECT
    if depth_of(inputs) > MAX_DEPTH:
        return Problem.TOO_DEEP
    if not all(isinstance(name, str) and NAME.fullmatch(name) for name in inputs):
        return Problem.NAMES
    return text_problem(inputs)


def text_problem(inputs: Mapping[Any, Any]) -> Problem | None:
    """Return what is wrong with the inputs as text."""
    try:
        text = json.dumps(inputs, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError):
        return Problem.KINDS
    if any("\0" in part for part in leaves(inputs)):
        return Problem.NUL
    return Problem.TOO_LONG if len(text) > MAX_CHARS else None


def depth_of(value: object) -> int:
    """Return how many levels of lists and objects lie in each other; without recursion, however deep it is."""
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, Mapping | list | tuple)]:
        depth += 1
        level = [part for each in level for part in (each.values() if isinstance(each, Mapping) else each)]
    return depth


def scalars_of(inputs: Mapping[str, Any]) -> dict[str, str]:
    """Return the scalars of a decision's inputs in the order of their names, as the text that a placeholder becomes."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in sorted(inputs.items())
        if isinstance(value, str | int | float)
    }
