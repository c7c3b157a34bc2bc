"""The steps of a tool sequence: `{tool_name, args}`. Whether a turn took them, and how one reads in a line. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MAX_STEPS = 200
MAX_TOOL_NAME_CHARS = 128
MAX_SEQUENCE_CHARS = 65_536  # of its JSON
MAX_ARGS_CHARS = 2_000  # of one step that a review takes out of a turn
MAX_LINE_CHARS = 160
TOO_LONG = "[too long to keep]"

Step = Mapping[str, Any]
Call = Mapping[str, Any]


def is_adopted(steps: Sequence[Step], calls: Iterable[Call]) -> bool:
    """Say whether a turn took the steps in their order, with whatever between them; never of no steps."""
    taken = iter(call["name"] for call in calls)
    return bool(steps) and all(step["tool_name"] in taken for step in steps)


def taken_steps(suggested: Iterable[str], calls: Iterable[Call]) -> list[dict[str, Any]]:
    """Return those of the suggested tools, in their order, that the turn called with success, with its arguments.

    Arguments too long to read again are not kept.
    """
    left = [call for call in calls if call["ok"]]
    steps = []
    for name in suggested:
        at = next(
            (place for place, call in enumerate(left) if call["name"] == name),
            None,
        )
        if at is not None:
            args = left[at]["args"]
            is_short = len(json.dumps(args, ensure_ascii=False)) <= MAX_ARGS_CHARS
            steps.append({"tool_name": name, "args": args if is_short else TOO_LONG})
            left = left[at + 1 :]
    return steps


def step_line(step: Step) -> str:
    """Return a step as one line: the tool and its arguments, cut where they are long."""
    args = step["args"]
    said = "" if args in (None, {}, []) else " " + json.dumps(args, ensure_ascii=False, sort_keys=True)
    line = str(step["tool_name"]) + said
    return line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…"
