"""What is unusual among the newest writes of agents. An anomaly asks a person to check; it blocks nothing. Pure.

Source: trust P-09. An anomaly is about one writer, so that it leads to that writer's rows and to their roll-back.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from memory_app.memories.core.destinations import find_destinations
from memory_app.writes.core.similar import group_similar

AGENTS = ("key:", "job:")  # writers that are no person
HOUR = timedelta(hours=1)
HELD_MIN = 5  # held texts within an hour
LAST = 20  # writes, of which a third may not be held
LAST_HELD_MIN = 3
SPIKE_MIN = 100  # writes within an hour
SPIKE_TIMES = 5  # as many as in a usual hour
BURST_MIN = 20  # texts that say nearly the same


class AnomalyKind(StrEnum):
    """What is unusual, the worst first."""

    HELD = "held"
    SIMILAR = "similar"
    AUTHORITY = "authority"
    DESTINATION = "destination"
    SPIKE = "spike"


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One thing that is unusual: how many writes of a writer, since when, and which memories where these are known.

    Of held texts also of how many writes, and within how many seconds.
    """

    kind: AnomalyKind
    writer: str
    count: int
    since: datetime
    ids: tuple[int, ...] = ()
    of: int = 0
    seconds: int = 0


@dataclass(frozen=True, slots=True)
class AnomalyInput:
    """A memory to find anomalies in; of a long text its beginning."""

    id: int
    actor: str
    content: str
    at: datetime


@dataclass(frozen=True, slots=True)
class WriteRate:
    """How much a writer wrote in the last hour, and in the hours before it that were read."""

    actor: str
    last_hour: int
    before: int
    hours_before: float
    since: datetime


_GRANT = r"(?:rais|lift|remov|increas|ignor|disabl|skip|bypass|overrid|exceed|doubl|chang|set|rewrit|unlimit|no longer)"
AUTHORITY = re.compile(
    r"\b(?:pre-?)?approv(?:e|es|ed|ing|al|als)\b"
    r"|\btransfer(?:s|red|ring)?\b"
    r"|\bwithdraw(?:s|n|al|als|ing)?\b|\bwithdrew\b"
    rf"|\b{_GRANT}\w*\b[^.!?\n]{{0,40}}\b(?:limits?|leverage)\b"
    r"|\b(?:limits?|leverage)\b[^.!?\n]{0,25}\b(?:rais|lift|remov|increas|ignor|disabl|bypass|unlimit|up to)"
    r"|批准|核准|转账|转出|汇款|提币|提现|(?:提高|解除|取消|忽略|放宽|无视)[^。！？\n]{0,10}(?:限额|上限|限制|杠杆)|加杠杆",  # noqa: RUF001
    re.IGNORECASE,
)

# a text without any of these is passed over
ROOTS = ("approv", "transfer", "withdr", "limit", "leverage", *"批核转汇提解取忽放无加")


def speaks_of_authority(text: str) -> bool:
    """Say whether a text speaks of approving, transferring, withdrawing, or of moving a limit or leverage."""
    lowered = text.lower()
    return any(root in lowered for root in ROOTS) and AUTHORITY.search(text) is not None


def find_anomalies(
    rows: Sequence[AnomalyInput],
    rates: Iterable[WriteRate],
    *,
    since: datetime,
) -> list[Anomaly]:
    """Return what is unusual since a moment, the worst first.

    `rows` are the newest memories, newest first; those from before `since` say which addresses are known.
    """
    by_writer: defaultdict[str, list[AnomalyInput]] = defaultdict(list)
    known: set[str] = set()
    for row in rows:
        if row.at >= since and row.actor.startswith(AGENTS):
            by_writer[row.actor].append(row)
        else:
            known |= {each.key for each in find_destinations(row.content)}
    found = [each for writer in sorted(by_writer) for each in find_in_texts(writer, by_writer[writer], known)]
    found += [Anomaly(AnomalyKind.SPIKE, rate.actor, rate.last_hour, rate.since) for rate in rates if is_spike(rate)]
    return sorted(
        found,
        key=lambda each: (
            list(AnomalyKind).index(each.kind),
            -each.count,
            each.writer,
        ),
    )


def find_in_texts(
    writer: str,
    rows: Sequence[AnomalyInput],
    known: set[str],
) -> list[Anomaly]:
    """Return what is unusual in the texts of one writer."""
    places = {row.id: row for row in rows}
    groups = group_similar({row.id: row.content for row in rows})
    similar = [places[key] for group in groups if len(group) >= BURST_MIN for key in group]
    authority = [row for row in rows if speaks_of_authority(row.content)]
    leading = [row for row in rows if any(each.key not in known for each in find_destinations(row.content))]
    found = (AnomalyKind.SIMILAR, similar), (AnomalyKind.AUTHORITY, authority), (AnomalyKind.DESTINATION, leading)
    return [
        Anomaly(
            kind,
            writer,
            len(chosen),
            min(row.at for row in chosen),
            tuple(row.id for row in chosen),
        )
        for kind, chosen in found
        if chosen
    ]


def find_held(writer: str, held: Iterable[datetime], written: Iterable[datetime]) -> Anomaly | None:
    """Return the hour in which most texts of a writer were held, else its last writes; None where few of them were.

    `held` and `written` have a moment for each text.
    """
    held, written = sorted(held), sorted(written)
    moments = sorted({*held, *written})
    worst = max(moments, key=lambda start: count_between(held, start, start + HOUR))  # of equals the first
    last = (written or held)[-LAST:]
    for since, until, enough in (
        (worst, worst + HOUR, HELD_MIN),
        (last[0], moments[-1], max(LAST_HELD_MIN, len(last) / 3)),
    ):
        count, writes = count_between(held, since, until), count_between(written, since, until)
        if count >= enough:
            span = moments[bisect_right(moments, until) - 1] - since
            seconds = int(span.total_seconds())
            return Anomaly(AnomalyKind.HELD, writer, count, since, of=max(count, writes), seconds=seconds)
    return None


def count_between(moments: Sequence[datetime], since: datetime, until: datetime) -> int:
    """Return how many of these sorted moments lie between two, both included."""
    return bisect_right(moments, until) - bisect_left(moments, since)


def is_spike(rate: WriteRate) -> bool:
    """Say whether an agent wrote far more in the last hour than it usually does."""
    usual = rate.before / rate.hours_before if rate.hours_before else 0.0
    return rate.actor.startswith(AGENTS) and rate.last_hour >= max(SPIKE_MIN, SPIKE_TIMES * usual)
