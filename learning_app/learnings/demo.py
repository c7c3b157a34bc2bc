"""The demo's learnings, and what its turns did with them. One that the guard refuses waits among the held texts."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from django.utils.translation import gettext_lazy as _

from learning_app.learnings.core import LEARNING_KIND, turn_origin
from learning_app.learnings.models import Learning, TurnLearning
from learning_app.learnings.services.review import ACTOR
from learning_app.learnings.services.store import LearningDraft, build_row
from learning_app.vocabulary import LearningUse
from minara_site.kernel.changes.services import delete_texts
from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.demo import AGENT_KEY, DemoAct, DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.guard.services import delete_holds


class DemoLearning(DemoRow):
    """One learning, stored `hours_ago`. `turns` say by the title of a session what its first turn did with it."""

    name: str
    text: str
    steps: list[dict[str, Any]] = []
    guidance: str = ""
    is_reviewed: bool = False
    worked: int = 1
    failed: int = 0
    ignored: int = 0
    used_hours_ago: float | None = None
    turns: Mapping[str, LearningUse] = {}


class LearningsPart(DemoPart[DemoLearning]):
    """Learnings of agents and of the review."""

    name, rows = "learnings", read_rows(DemoLearning, __package__)

    def acts(self, load: DemoLoad) -> Iterator[DemoAct]:
        yield from super().acts(load)
        for name, rows in self.rows.items():
            yield load.now + timedelta(seconds=1), partial(self.link_turns, load, load.people[name], rows)

    def store(self, load: DemoLoad, owner: Any, row: DemoLearning) -> None:
        actor, at = ACTOR if row.is_reviewed else AGENT_KEY, load.ago(row.hours_ago)
        draft = LearningDraft(row.name, row.text, row.steps, row.guidance)
        learning = build_row(
            owner_id=owner.pk,
            draft=draft,
            actor=actor,
            origin="",
            now=at,
        )
        learning.is_demo, learning.success_count = True, row.worked
        learning.failure_count, learning.ignored_count = row.failed, row.ignored
        learning.last_used_at = None if row.used_hours_ago is None else load.ago(row.used_hours_ago)
        store_judged(LEARNING_KIND, learning, now=at)

    def link_turns(
        self,
        load: DemoLoad,
        owner: Any,
        rows: list[DemoLearning],
    ) -> None:
        """Store what the first turns of the demo's sessions did."""
        first = Turn.objects.filter(
            session__in=load.marked(Session),
            session__owner=owner,
            sequence=1,
        )
        turns = {turn.session.title: turn for turn in first.select_related("session")}
        found = {row.name: row for row in Learning.objects.filter(owner=owner, is_demo=True)}
        for row in rows:
            for title, use in row.turns.items():
                if use is LearningUse.STORED and title in turns and row.name in found:
                    origin = turn_origin(turns[title].session_id, turns[title].sequence)
                    Learning.objects.filter(pk=found[row.name].pk).update(origin=origin)
        TurnLearning.objects.bulk_create(
            TurnLearning(
                turn=turns[title],
                learning=found[row.name],
                use=use,
                at=turns[title].created_at,
            )
            for row in rows
            for title, use in row.turns.items()
            if title in turns and row.name in found
        )

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        """Delete the rows; one whose guidance somebody wrote since stays and is the demo's no longer."""
        rows = Learning.objects.filter(is_demo=True)
        kept = rows.exclude(edited_by="").update(is_demo=False)
        ids = list(rows.values_list("pk", flat=True))
        delete_holds(kind=LEARNING_KIND, object_ids=ids)
        delete_texts(LEARNING_KIND, [str(pk) for pk in ids])
        rows.delete()
        return [RemovedRows(_("Learnings"), len(ids), kept)]
