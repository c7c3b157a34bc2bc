"""One institution run as its page shows it: phases in time, decision, ladder, what was missing, what it cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from learning_app.institution.core.ladder import DAYS
from learning_app.institution.core.prompts import MISSING_TEXTS
from learning_app.institution.core.roles import POSITIONS
from learning_app.institution.models import InstitutionReflection, InstitutionRoleOutput, InstitutionRun
from learning_app.institution.pages.labels import FIELDS, PHASES, QUESTIONS, ROLES, VALUES
from learning_app.institution.pages.lists import InstitutionRow, RungRow
from learning_app.institution.selectors import list_cited, list_counted
from learning_app.methodologies.models import Methodology
from learning_app.vocabulary import InstitutionPhase, LadderWindow, MissingInput, OutcomeState
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.guard.masking import mask
from minara_site.web.decision_chart import JudgedDecision, load_decision_chart
from minara_site.web.filters import Text
from minara_site.web.moments import cost_label
from minara_site.web.price_chart import PriceChart

MAX_SNAPSHOTS = 20  # the newest
TONES = {"bullish": "t-good", "buy": "t-good", "bearish": "t-bad", "sell": "t-bad"}


@dataclass(frozen=True, slots=True)
class FieldView:
    """One field of an answer: a code in words, a text, or lines."""

    label: Text
    code: Text = ""
    text: str = ""
    lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class OutputView:
    """What a role answered, field by field."""

    output: InstitutionRoleOutput

    @property
    def role(self) -> Text:
        return ROLES.get(self.output.role, self.output.role)

    @property
    def tone(self) -> str:
        """Return the colour of its mark in the timeline: where it points."""
        fields = self.output.fields
        values = (fields.get(name) for name in ("stance", "recommendation", "action", "rating"))
        by_role = {"bull": "bullish", "bear": "bearish"}.get(self.output.role, "")
        return TONES.get(next(filter(None, values), by_role), "t-person")

    @property
    def fields(self) -> list[FieldView]:
        return list(shape_fields(self.output.fields))


@dataclass(frozen=True, slots=True)
class PhaseView:
    """A phase of a run; without outputs it is still to come."""

    label: Text
    number: int
    outputs: Sequence[OutputView]


@dataclass(frozen=True, slots=True)
class CitedRow:
    """A methodology that a decision cites, and what that counted; `url` is empty where this reader may not open it."""

    name: str
    url: str
    credit: str


def shape_fields(fields: Mapping[str, Any]) -> Iterator[FieldView]:
    """Yield the fields of an answer in words, nested ones in place; empty ones and cited ids are left out."""
    for name, value in fields.items():
        label = FIELDS.get(name, name)
        if isinstance(value, Mapping):
            yield from shape_fields(value)
        elif isinstance(value, str) and value in VALUES:
            yield FieldView(label, code=VALUES[value])
        elif isinstance(value, str):
            yield FieldView(label, text=value)
        elif isinstance(value, list):
            if value and name != "cited":
                yield FieldView(label, lines=value)
        else:
            yield FieldView(
                label,
                code=f"{value:.2f}" if isinstance(value, float) else str(value),
            )


def shape_cited(run: InstitutionRun, principal: Principal) -> list[CitedRow]:
    """Return the methodologies that a decision cites. Two queries."""
    counted = list_counted(run)
    may_open = principal.may(Act.METHODOLOGIES_READ)
    rows = []
    for method in list_cited(run):
        is_open = may_open and (principal.is_operator or not method.held_at)
        url = reverse("methodologies:one", args=[method.uid]) if is_open else ""
        windows = [window for number, window in counted if number == method.pk]
        name = "" if method.held_at else mask(method.name)
        rows.append(CitedRow(name, url, credit_label(run, method, windows)))
    return rows


def credit_label(
    run: InstitutionRun,
    method: Methodology,
    windows: Sequence[str],
) -> str:
    """Return what citing a methodology counted, and if nothing, why."""
    if windows:
        return _("counted: %(windows)s") % {"windows": ", ".join(windows)}
    if run.as_of:
        return _("counts nowhere: a replay")
    if not run.feeds:
        return _("counts nowhere: no operator asked for this run")
    if method.direction != run.direction:
        return _("cited, other direction: counts nowhere")
    if all(rung.outcome_state != OutcomeState.PENDING for rung in run.reflections.all()):
        return _("no score counted: inconclusive, or another run of that day counted")
    return _("counts once a window is scored")


def choose_rung(run: InstitutionRun, asked: str) -> InstitutionReflection | None:
    """Return the window that the chart shows: the asked one, else the last scored one, else the first; None without."""
    rungs = list(run.reflections.all())
    scored = [rung for rung in rungs if rung.outcome_state != OutcomeState.PENDING]
    found = [rung for rung in rungs if rung.window == asked] or scored[-1:] or rungs[:1]
    return found[0] if found else None


def load_chart(
    run: InstitutionRun,
    rung: InstitutionReflection | None,
    *,
    now: datetime,
) -> PriceChart | None:
    """Return the instance's prices around a window of the decision; the owner's where those of the demo are meant."""
    if rung is None or run.decided_at is None:
        return None
    entry, leave = (rung.entry_price, rung.entry_price_at), (rung.exit_price, rung.exit_price_at)
    owner_id = run.owner_id if run.is_demo else None
    return load_decision_chart(
        JudgedDecision(run.ticker, run.decided_at, rung.due_at, entry, leave, owner_id),
        now=now,
    )


def page_context(
    run: InstitutionRun,
    principal: Principal,
    *,
    window: str,
    now: datetime,
) -> dict[str, Any]:
    """Return everything that the page of a run shows this reader."""
    rung, inputs = choose_rung(run, window), run.inputs or {}
    snapshots = InstitutionReflection.objects.filter(run=run).exclude(window__in=list(DAYS)).order_by("-due_at", "-pk")
    said = [OutputView(output) for output in run.outputs.all()]
    return {
        "title": _("Institution run on %(ticker)s") % {"ticker": run.ticker},
        "run": run,
        "row": InstitutionRow(run),
        "is_own": run.owner_id == principal.owner.pk,
        "phases": [
            PhaseView(
                PHASES[phase],
                number,
                [each for each in said if each.output.phase == phase],
            )
            for number, phase in enumerate(InstitutionPhase, 1)
        ],
        "roles": len(POSITIONS),
        "retrospect": inputs.get("retrospect"),
        "missing": [MISSING_TEXTS[MissingInput(each)] for each in inputs.get("missing", [])],
        "shown": len(inputs.get("methods", [])),
        "cases": list(shape_fields(run.cases or {})),
        "cited": shape_cited(run, principal),
        "ladder": [(RungRow(rung), QUESTIONS[LadderWindow(rung.window)]) for rung in run.reflections.all()],
        "snapshots": [(RungRow(each), QUESTIONS[LadderWindow(each.window)]) for each in snapshots[:MAX_SNAPSHOTS]],
        "rung": rung,
        "chart": load_chart(run, rung, now=now),
        "is_resting": not settings.MINARA.institution_learning_enabled,
        "cost": cost_label(run.cost_usd),
        "author": name_actors({run.actor}, reader=principal.owner)[run.actor],
    }
