"""Lengths of candles as people and exchanges write them: 5m, 1h, 1d, 1w. Pure."""

import re

SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}

_INTERVAL = re.compile(r"([1-9][0-9]{0,2})([mhdw])")


def parse_interval(text: str) -> int | None:
    """Return the seconds of an interval, None for what is none."""
    match = _INTERVAL.fullmatch(text.strip())
    return int(match[1]) * SECONDS[match[2]] if match else None


def format_interval(seconds: int) -> str:
    """Return the interval as it is written, in its largest whole unit up to a day, as exchanges do."""
    unit = next(
        (unit for unit in ("d", "h", "m") if seconds % SECONDS[unit] == 0),
        None,
    )
    if seconds == SECONDS["w"]:
        unit = "w"
    return f"{seconds // SECONDS[unit]}{unit}" if unit else f"{seconds}s"
