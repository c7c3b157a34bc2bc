"""The demo's institution runs. The demo's prices, which are its owners', score them; no methodology counts that."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from learning_app.institution.core.answers import PortfolioDecision
from learning_app.institution.core.ladder import DAYS, due_at
from learning_app.institution.core.roles import POSITIONS
from learning_app.institution.models import InstitutionReflection, InstitutionRoleOutput, InstitutionRun
from learning_app.institution.services.ladder import close
from learning_app.methodologies.demo import demo_methodologies
from learning_app.vocabulary import InstitutionState, MissingInput
from minara_site.access.models import User
from minara_site.kernel.demo import AGENT_KEY, DemoLoad, DemoPart, DemoRow, RemovedRows, delete_rows, read_rows
from minara_site.kernel.market.moves import find_move
from minara_site.kernel.market.outcome import OutcomeWindow

SECONDS_OF_ANSWER = 9
MODELS = ("claude-haiku-5-5", "claude-sonnet-5-5")


class DemoRun(DemoRow):
    """One run, decided `hours_ago`. `said` are the answers in the order of the positions, `cites` names of methods."""

    ticker: str
    cost_usd: float
    missing: tuple[MissingInput, ...]
    cites: tuple[str, ...] = ()
    said: tuple[dict[str, Any], ...]


class InstitutionPart(DemoPart[DemoRun]):
    """Runs with the answers of their roles, and their ladders as far as they are due."""

    name, rows = "institution", read_rows(DemoRun, __package__)

    def store(self, load: DemoLoad, owner: User, row: DemoRun) -> None:
        at = load.ago(row.hours_ago)
        answers = [place.answer(**fields) for place, fields in zip(POSITIONS, row.said, strict=True)]
        decision, found = answers[-1], demo_methodologies()
        assert isinstance(decision, PortfolioDecision), "the last position decides"
        cited = [found[name].uid for name in row.cites if name in found]
        run: InstitutionRun = InstitutionRun.objects.create(
            owner=owner,
            ticker=row.ticker,
            state=InstitutionState.DONE,
            actor=AGENT_KEY,
            inputs={
                "at": at.isoformat(),
                "methods": cited,
                "missing": list(row.missing),
            },
            rating=decision.rating,
            confidence=decision.confidence,
            horizon_days=decision.horizon_days,
            cases=decision.cases.model_dump(),
            cited=cited,
            calls=len(answers),
            cost_usd=row.cost_usd,
            created_at=load.ago(row.hours_ago + len(answers) * SECONDS_OF_ANSWER / 3600),
            decided_at=at,
            ended_at=at,
            is_demo=True,
        )
        InstitutionRoleOutput.objects.bulk_create(
            InstitutionRoleOutput(
                run=run,
                position=number,
                phase=place.phase,
                role=place.role,
                kind=place.answer.__name__,
                fields=answer.model_dump(mode="json"),
                model=MODELS[place.tier == "main"],
                at=load.ago(row.hours_ago + (len(answers) - 1 - number) * SECONDS_OF_ANSWER / 3600),
            )
            for number, (place, answer) in enumerate(zip(POSITIONS, answers, strict=True))
        )
        rungs = [
            InstitutionReflection(
                run=run,
                window=window,
                due_at=due_at(window, at),
            )
            for window in DAYS
        ]
        for rung in rungs:
            move = find_move(
                run.ticker,
                OutcomeWindow(at, rung.due_at),
                owner_id=owner.pk,
                now=load.now,
            )
            if move is not None:
                close(rung, move, now=rung.due_at)
        InstitutionReflection.objects.bulk_create(rungs)

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        """Delete the runs with what their roles said and how they were scored."""
        return [delete_rows(_("Institution runs"), InstitutionRun.objects.filter(is_demo=True))]
