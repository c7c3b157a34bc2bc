"""The Wilson bound of a methodology after each outcome, as a curve with the bars of the settings."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from learning_app.methodologies.core.lifecycle import TrustRules
from learning_app.methodologies.core.wilson import wilson_interval
from learning_app.methodologies.models import LifecycleEvent
from learning_app.methodology_pages.pages.curve import Band, Curve, Dot, Level, Line, Plan, draw_curve
from learning_app.methodology_pages.pages.labels import LIFECYCLE
from learning_app.vocabulary import LifecycleKind
from minara_site.web.charts import Value

TURNS = (LifecycleKind.GRADUATED, LifecycleKind.DEMOTED)
Y_TICKS = [(step / 5, f"{step / 5:.1f}") for step in range(6)]


def bound_curve(events: Sequence[LifecycleEvent], rules: TrustRules) -> Curve | None:
    """Return the curve of outcomes, with what they changed; None without one. `events` are the oldest first.

    Of the events that led to one number of uses the last one counts: the others were reversed since.
    """
    recorded = [event for event in events if event.kind == LifecycleKind.OUTCOME_RECORDED]
    by_use = {used_of(event): event for event in recorded if 0 < used_of(event) <= used_of(recorded[-1])}
    outcomes = [by_use[use] for use in sorted(by_use)]
    if not outcomes:
        return None
    bounds = [(used_of(event), event.confidence or 0.0) for event in outcomes]
    shares = [(used_of(event), right_of(event) / used_of(event)) for event in outcomes]
    upper = [
        (
            used_of(event),
            wilson_interval(right_of(event), used_of(event))[1],
        )
        for event in outcomes
    ]
    late = [place for place in bounds if place[0] >= rules.min_uses]
    last = outcomes[-1]
    numbers = {
        "bound": bound_label(last),
        "uses": last.times_used,
        "bar": f"{rules.injection_threshold:.2f}",
    }
    plan = Plan(
        label=_("Lower bound by number of uses: %(bound)s after %(uses)s uses; the bar is %(bar)s") % numbers,
        rows=[
            Value(
                label_of(event),
                event.confidence or 0.0,
                bound_label(event),
            )
            for event in outcomes
        ],
        lines=[
            Line(shares, "c-thin c-line-5"),
            Line([*(place for place in bounds if place[0] < rules.min_uses), *late[:1]], "c-dash"),
            Line(late),
        ],
        y_ticks=Y_TICKS,
        levels=levels_of(rules),
        dots=[
            *(dot_of(event) for event in events if event.kind in TURNS and used_of(event) in by_use),
            Dot(*bounds[-1], f"{label_of(last)}: {bound_label(last)}", is_last=True),
        ],
        x_text=_("uses with a settled outcome"),
        bands=[Band(bounds, upper)],
        notes=sorted({rules.min_uses, rules.min_uses_before_demotion}),
        right=[used_of(event) for event in outcomes if event.details.get("correct")],
        wrong=[used_of(event) for event in outcomes if not event.details.get("correct")],
    )
    return draw_curve(plan)


def levels_of(rules: TrustRules) -> list[Level]:
    """Return the two bars of the settings."""
    bar = {"bound": f"{rules.injection_threshold:.2f}", "uses": rules.min_uses}
    floor = {"bound": f"{rules.demotion_threshold:.2f}", "uses": rules.min_uses_before_demotion}
    return [
        Level(
            rules.injection_threshold,
            _("%(bound)s may graduate after %(uses)s uses") % bar,
            _("%(bound)s graduates") % bar,
            is_left=True,
        ),
        Level(
            rules.demotion_threshold,
            _("%(bound)s demotes after %(uses)s uses") % floor,
            _("%(bound)s demotes") % floor,
            is_below=True,
        ),
    ]


def dot_of(event: LifecycleEvent) -> Dot:
    """Return where an outcome changed the state."""
    return Dot(
        used_of(event),
        event.confidence or 0.0,
        f"{LIFECYCLE[LifecycleKind(event.kind)]}: {bound_label(event)}",
    )


def label_of(event: LifecycleEvent) -> str:
    """Return which use an outcome was, whether it was right, and the count with it."""
    said = _("right") if event.details.get("correct") else _("wrong")
    said = _("one reversed") if "reverses" in event.details else said
    counts = {"use": event.times_used, "said": said, "right": event.times_correct}
    return _("use %(use)s, %(said)s: %(right)s of %(use)s") % counts


def used_of(event: LifecycleEvent) -> int:
    """Return how often it was used by then."""
    return event.times_used or 0


def right_of(event: LifecycleEvent) -> int:
    """Return how often it was right by then."""
    return event.times_correct or 0


def bound_label(event: LifecycleEvent) -> str:
    """Return the lower bound by then."""
    return f"{event.confidence or 0.0:.3f}"
