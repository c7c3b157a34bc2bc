"""The demo's rebuild runs: one that wrote its inferred tags, one that failed, one that had nothing to ask."""

from django.utils.translation import gettext_lazy as _

from minara_site.access.models import User
from minara_site.kernel.changes.core import Step
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.changes.services import store_set
from minara_site.kernel.core.vocabulary import RUN_ORIGIN
from minara_site.kernel.demo import DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows
from profile_app.portrait.models import UserTag, UserTagEvent
from profile_app.rebuild.changes import TAG, tag_key, tag_state
from profile_app.rebuild.core import REBUILT, Flow, RunOutcome
from profile_app.rebuild.models import RebuildRun


class DemoRebuild(DemoRow):
    """A run; one of tags wrote those of the demo that `evidence` names, with the words that showed each."""

    flow: Flow
    outcome: RunOutcome
    reason: str = ""
    is_asked_for: bool = False
    evidence: dict[str, str] = {}


class RebuildsPart(DemoPart[DemoRebuild]):
    """Rebuild runs with their change sets."""

    name, rows = "rebuild_runs", read_rows(DemoRebuild, __package__)

    def store(self, load: DemoLoad, owner: User, row: DemoRebuild) -> None:
        at = load.ago(row.hours_ago)
        tags = list(UserTag.objects.filter(owner=owner, is_demo=True, name__in=row.evidence).order_by("name"))
        if row.evidence and not tags:
            return
        run = RebuildRun.objects.create(
            owner=owner,
            flow=row.flow,
            outcome=row.outcome,
            reason=row.reason,
            requested_by=f"user:{owner.pk}" if row.is_asked_for else "schedule",
            started_at=at,
            ended_at=at,
            read={"dimensions": sorted(row.evidence)} if row.evidence else {},
        )
        load.mark(run)
        steps = []
        for tag in tags:
            event = UserTagEvent.objects.filter(owner=owner, name=tag.name, is_demo=True).latest("at", "pk")
            tag.origin = f"{RUN_ORIGIN}{run.pk}"
            tag.save(update_fields=["origin"])
            key, evidence = tag_key(owner.pk, tag.name), row.evidence[tag.name]
            run.wrote.append({"kind": TAG, "key": key, "name": tag.name, "evidence": evidence})
            before = {"value": event.value_before, "source": event.source_before, "origin": ""}
            steps.append(Step(TAG, key, tag, owner.pk, before, tag_state(tag)))
        run.save()
        if steps:
            store_set(steps, act=REBUILT, actor=row.flow.actor, at=at, run=run.subject)

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        runs = load.marked(RebuildRun)
        removed = RemovedRows(_("Rebuilds of profiles"), runs.count())
        ChangeSet.objects.filter(run__in=[run.subject for run in runs]).delete()
        runs.delete()
        return [removed]
