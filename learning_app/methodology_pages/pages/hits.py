"""Hits beside their control over independent calls, live and replayed ones apart. Source: court.md (evidence)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from learning_app.court.services.evidence import KnownBlock
from learning_app.methodologies.core.wilson import Z, wilson_interval
from learning_app.methodology_pages.pages.curve import Band, Curve, Dot, Line, Plan, draw_curve
from minara_site.web.charts import Value

Y_TICKS = [(step / 5, f"{20 * step}%") for step in range(6)]
MAX_STEPS = 200
Course = list[tuple[float, float, float]]
"""A mean with the ends of its 95 % interval, after each call."""


@dataclass(frozen=True, slots=True)
class Hits:
    """The hits of live or of replayed calls: how many, and how often they and their control were right, in words."""

    label: str
    calls: int
    right: str
    control: str
    curve: Curve


def load_hits(blocks: Sequence[KnownBlock]) -> list[Hits]:
    """Return the hits of live and of replayed calls, as far as there are any; `blocks` are known, in their order."""
    live = [block for block in blocks if not block.is_replayed]
    replayed = [block for block in blocks if block.is_replayed]
    return [draw_hits(label, some) for label, some in ((_("Live"), live), (_("Replayed"), replayed)) if some]


def draw_hits(label: str, blocks: Sequence[KnownBlock]) -> Hits:
    """Return the share that was right and the mean control after each of these blocks, of many at some of them."""
    right = list(course([block.score for block in blocks], is_share=True))
    control = list(course([block.chance for block in blocks], is_share=False))
    every = 1 + len(blocks) // MAX_STEPS
    steps = [*range(every, len(blocks), every), len(blocks)]

    def places(course: Course, part: int) -> list[tuple[int, float]]:
        return [(step, course[step - 1][part]) for step in steps]

    def say(step: int) -> str:
        shares = {"right": percent(right[step - 1][0]), "control": percent(control[step - 1][0])}
        return _("%(right)s right, control %(control)s") % shares

    plan = Plan(
        label=f"{label}{_(': ')}{say(len(blocks))}",
        rows=[Value(_("call %(number)s") % {"number": step}, share, say(step)) for step, share in places(right, 0)],
        lines=[Line(places(control, 0), "c-line-5"), Line(places(right, 0))],
        y_ticks=Y_TICKS,
        levels=[],
        dots=[Dot(len(right), right[-1][0], say(len(blocks)), is_last=True)],
        x_text=_("independent calls"),
        bands=[
            Band(places(control, 1), places(control, 2), "c-area-5"),
            Band(places(right, 1), places(right, 2)),
        ],
    )
    return Hits(label, len(blocks), range_label(right[-1]), range_label(control[-1]), draw_curve(plan))


def course(values: Sequence[float], *, is_share: bool) -> Iterator[tuple[float, float, float]]:
    """Yield the mean of the values so far with its 95 % interval: Wilson's for a share, the normal one otherwise.

    One value says nothing of how far the next ones lie from it.
    """
    total = squares = 0.0
    for count, value in enumerate(values, 1):
        total, squares = total + value, squares + value * value
        mean = total / count
        half = Z * math.sqrt(max(0.0, squares / count - mean * mean) / (count - 1)) if count > 1 else 1.0
        yield mean, *(wilson_interval(total, count) if is_share else (max(0.0, mean - half), min(1.0, mean + half)))


def percent(share: float) -> str:
    """Return a share in whole percent."""
    return f"{100 * share:.0f} %"


def range_label(place: tuple[float, float, float]) -> str:
    """Return a mean with its interval: "62 % (51 to 72)"."""
    mean, low, high = (f"{100 * each:.0f}" for each in place)
    return _("%(mean)s %% (%(low)s to %(high)s)") % {"mean": mean, "low": low, "high": high}
