"""The demo's preferences, in every state. One that the guard refuses waits among the held texts."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any

from django.db.models import Max
from django.utils.translation import gettext_lazy as _

from learning_app.preferences.core import PREFERENCE_KIND
from learning_app.preferences.models import Preference, PreferenceCursor
from learning_app.preferences.services.mine import ACTOR
from learning_app.preferences.services.propose import PreferenceDraft, build_row
from learning_app.vocabulary import PreferenceSource, PreferenceState
from minara_site.kernel.changes.services import delete_texts, keep_texts
from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.demo import AGENT_KEY, DemoAct, DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows
from minara_site.kernel.guard.held_at import store_judged
from minara_site.kernel.guard.services import delete_holds


class DemoPreference(DemoRow):
    """One preference, proposed `hours_ago`; `before` is what it said until its owner approved other words."""

    dimension: str
    kind: str
    text: str
    source: PreferenceSource
    state: PreferenceState
    evidence: int = 1
    decided_hours_ago: float | None = None
    reason: str = ""
    before: str = ""


class PreferencesPart(DemoPart[DemoPreference]):
    """Preferences. What the demo's owners say in its sessions is not mined."""

    name, rows = "preferences", read_rows(DemoPreference, __package__)

    def acts(self, load: DemoLoad) -> Iterator[DemoAct]:
        yield from super().acts(load)
        for owner in load.people.values():
            yield load.now + timedelta(seconds=1), partial(pass_over_turns, load, owner)

    def store(self, load: DemoLoad, owner: Any, row: DemoPreference) -> None:
        by_owner, at = f"user:{owner.pk}", load.ago(row.hours_ago)
        actors = {PreferenceSource.USER: by_owner, PreferenceSource.MINED: ACTOR}
        actor, draft = actors.get(row.source, AGENT_KEY), PreferenceDraft(row.dimension, row.kind, row.text)
        preference = build_row(
            owner.pk,
            draft,
            source=row.source,
            actor=actor,
            origin="",
            now=at,
        )
        preference.is_demo, preference.evidence_count, preference.state = True, row.evidence, row.state
        if row.decided_hours_ago is not None:
            preference.decided_by, preference.decided_at = by_owner, load.ago(row.decided_hours_ago)
            preference.updated_at, preference.version = preference.decided_at, 2
            preference.reason = row.reason
        store_judged(PREFERENCE_KIND, preference, now=at)
        if row.before:
            keep_texts(
                PREFERENCE_KIND, preference, {"statement": row.before}, actor=by_owner, now=preference.updated_at
            )
            preference.save(update_fields=["text_version"])

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        """Delete the rows; one whose words somebody changed since stays and is the demo's no longer."""
        rows = Preference.objects.filter(is_demo=True)
        kept = rows.filter(decided_at__gt=load.loaded_at, text_version__gt=1).update(is_demo=False)
        ids = list(rows.values_list("pk", flat=True))
        delete_holds(kind=PREFERENCE_KIND, object_ids=ids)
        delete_texts(PREFERENCE_KIND, ids)
        rows.delete()
        load.marked(PreferenceCursor).filter(moved_at__lte=load.loaded_at).delete()
        return [RemovedRows(_("Preferences"), len(ids), kept)]


def pass_over_turns(load: DemoLoad, owner: Any) -> None:
    """Let mining begin behind the demo's turns, for an owner who said nothing else yet."""
    turns, is_new = Turn.objects.filter(session__owner=owner), not PreferenceCursor.objects.filter(owner=owner).exists()
    demo = turns.filter(session__in=load.marked(Session))
    if is_new and demo.exists() and turns.count() == demo.count():
        last = turns.aggregate(last=Max("pk"))["last"]
        cursors = [
            PreferenceCursor(
                owner=owner,
                is_shadow=is_shadow,
                last_turn_id=last,
                moved_at=load.now,
            )
            for is_shadow in (False, True)
        ]
        load.mark(*PreferenceCursor.objects.bulk_create(cursors))
