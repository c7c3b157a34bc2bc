"""Whether lessons helped: a row a revision, the interval of its mean as a bar, and what can be known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from learning_app.ledger.models import Deployment
from learning_app.lessons.core.compare import (
    MIN_TRADES,
    PROVEN,
    Arm,
    compare,
    split_by_turns,
    summarise,
    summarise_arm,
)
from learning_app.lessons.models import ReflectionNote
from learning_app.lessons.selectors import Use, load_newest_notes, load_results, load_use
from minara_site.web.charts import Tick
from minara_site.web.moments import signed_money_label

SERIES = (1, 2, 5, 3, 6)
LEFT, RIGHT, TOP, STEP, CLOSEST = 8.0, 332.0, 24, 44, 60.0


@dataclass(frozen=True, slots=True)
class ArmRow:
    """A revision in the table. `y` and `places` (low, mean, high) are those of its bar, empty below 20 trades."""

    arm: Arm
    use: Use | None
    is_active: bool
    series: int
    y: int
    places: Sequence[float]


def comparison_context(deployment: Deployment, revisions: Sequence[ReflectionNote]) -> dict[str, Any]:
    """Return the comparison of a deployment's revisions, given the newest first. Five queries."""
    notes = load_newest_notes(deployment.pk)
    newest = notes[0].content_hash or "" if notes else ""
    before = notes[1].content_hash if notes[1:] else None
    turns_from = deployment.state.turns_from
    kept, apart = split_by_turns(load_results(deployment, turns_from=turns_from))
    order = {lessons: place for place, lessons in enumerate([*(note.content_hash for note in revisions), ""])}
    arms = sorted(
        summarise([each for each in kept if each.lessons in order]).values(), key=lambda arm: order[arm.lessons]
    )
    use = load_use(deployment)
    verdict = compare(kept, newest=newest, before=before, take_turns=turns_from is not None)
    other = before if verdict.better == newest else newest
    rows, ticks = draw(arms, use, active=newest)
    bars = [row for row in rows if row.places]
    return {
        "rows": rows,
        "bars": bars,
        "ticks": ticks,
        "floor": TOP + STEP * len(bars),
        "apart": summarise_arm("", apart) if apart else None,
        "verdict": verdict,
        "other": other,
        "better_use": use.get(verdict.better),
        "other_use": use.get(other or ""),
        "min_trades": MIN_TRADES,
        "bar": PROVEN,
    }


def draw(arms: Sequence[Arm], use: Mapping[str, Use], *, active: str) -> tuple[list[ArmRow], list[Tick]]:
    """Return the rows with the places of their bars, and the words below them."""
    shown = [arm for arm in arms if arm.is_enough]
    low = min([0.0, *(arm.interval[0] for arm in shown)])
    high = max([0.0, *(arm.interval[1] for arm in shown)])
    scale = (RIGHT - LEFT) / ((high - low) or 1.0)
    rows = []
    for arm in arms:
        place = shown.index(arm) if arm.is_enough else 0
        values = (arm.interval[0], arm.mean, arm.interval[1]) if arm.is_enough else ()
        rows.append(
            ArmRow(
                arm,
                use.get(arm.lessons),
                arm.lessons != "" and arm.lessons == active,
                SERIES[place % len(SERIES)],
                TOP + STEP * place,
                [LEFT + scale * (value - low) for value in values],
            )
        )
    zero, *ends = (Tick(LEFT + scale * (value - low), signed_money_label(Decimal(value))) for value in (0.0, low, high))
    return rows, [zero, *(end for end in ends if abs(end.place - zero.place) > CLOSEST)]
