"""The evidence of the court after each independent call, as a curve with the line of 20. Source: court.md."""

import math
from collections.abc import Sequence

from django.utils.translation import gettext as _

from learning_app.court.core import LOG_BEATS_CHANCE, CourtState, add_block
from learning_app.court.services.evidence import KnownBlock
from learning_app.methodologies.core.evidence import e_value
from learning_app.methodology_pages.pages.curve import Curve, Dot, Level, Line, Plan, draw_curve
from minara_site.web.charts import Value

MAX_TICKS = 6
VAST = 1e7
LOG_10 = math.log(10)


def replay(blocks: Sequence[KnownBlock]) -> list[float]:
    """Return the logarithm of E after each block, in the order in which the court counted them."""
    state, logs = CourtState(), []
    for block in blocks:
        state = add_block(state, score=block.score, chance=block.chance)
        logs.append(state.log_evidence)
    return logs


def evidence_curve(logs: Sequence[float]) -> Curve | None:
    """Return the curve of these logarithms of E; None without one."""
    if not logs:
        return None
    tens = [(number, each / LOG_10) for number, each in enumerate(logs, 1)]
    highest = max(range(len(logs)), key=logs.__getitem__)
    bar = LOG_BEATS_CHANCE / LOG_10
    numbers = {
        "now": e_label(logs[-1]),
        "count": len(logs),
        "most": e_label(logs[highest]),
    }
    dots = [Dot(*tens[-1], _("now %(now)s") % numbers, is_last=True)]
    if logs[highest] > logs[-1]:
        dots.insert(0, Dot(*tens[highest], _("maximum %(most)s") % numbers))
    plan = Plan(
        label=_(
            "Evidence after %(count)s independent calls: now %(now)s, at its maximum %(most)s; 20 is better than chance"
        )
        % numbers,
        rows=[
            Value(
                _("call %(number)s") % {"number": step},
                value,
                e_label(value * LOG_10),
            )
            for step, value in tens
        ],
        lines=[Line([(step, value) for step, value in tens])],
        y_ticks=powers(
            min(value for _step, value in tens),
            max(value for _step, value in tens),
        ),
        levels=[
            Level(
                bar,
                _("20: chance gets here once in 20 times"),
                _("20: better than chance"),
                is_left=True,
            )
        ],
        dots=dots,
        x_text=_("independent calls"),
    )
    return draw_curve(plan)


def powers(low: float, high: float) -> list[tuple[float, str]]:
    """Return the powers of ten behind the curve, those around the line of 20 among them."""
    first, last = min(math.floor(low), -1), max(math.ceil(high), 2)
    size = math.ceil((last - first) / MAX_TICKS)
    return [(float(power), power_label(power)) for power in range(first, last + size, size)]


def power_label(power: int) -> str:
    """Return a power of ten that fits beside a curve: 0.01, 1, 1,000, 1e6."""
    return f"1e{power}" if abs(power) > 3 else f"{10**power:,g}"  # noqa: PLR2004 - four digits fit


def e_label(log_e: float) -> str:
    """Return E as people read it."""
    value = e_value(log_e)
    if value >= VAST:
        return _("over %(number)s") % {"number": f"{VAST:,.0f}"}
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"  # noqa: PLR2004 - digits that say something
