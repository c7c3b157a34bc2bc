"""The demo's sessions, each with the prompt of its time and its turns."""

from datetime import timedelta

from django.utils.translation import gettext_lazy as _

from minara_site.access.models import User
from minara_site.kernel.conversations.models import Session, Turn
from minara_site.kernel.conversations.services import NewTurn, record_turn
from minara_site.kernel.demo import DemoLoad, DemoPart, DemoRow, RemovedRows, delete_rows, read_rows
from profile_app.prompt.models import SessionSnapshot
from profile_app.prompt.services import end_session, start_session

BETWEEN_TURNS = timedelta(minutes=3)


class DemoSession(DemoRow):
    """A session that began this long ago; one that `is_over` has lost the text of its prompt."""

    title: str
    turns: tuple[NewTurn, ...]
    is_over: bool = False


class SessionsPart(DemoPart[DemoSession]):
    """Sessions with their snapshots and turns."""

    name, rows = "sessions", read_rows(DemoSession, __package__)

    def store(self, load: DemoLoad, owner: User, row: DemoSession) -> None:
        """Store a session with its frozen prompt and turns, then move it to its time."""
        snapshot = start_session(
            owner=owner,
            title=row.title,
            actor=load.actor,
            now=load.now,
        )
        of_session = {
            "owner": owner,
            "session_id": snapshot.pk,
            "actor": load.actor,
            "now": load.now,
        }
        began_at = last_at = load.ago(row.hours_ago)
        for turn in row.turns:
            last_at += BETWEEN_TURNS
            stored = record_turn(turn=turn, **of_session, is_announced=False)
            Turn.objects.filter(pk=stored.pk).update(created_at=last_at)
        if row.is_over:
            end_session(**of_session)
        ended_at = last_at if row.is_over else None
        SessionSnapshot.objects.filter(pk=snapshot.pk).update(frozen_at=began_at, wiped_at=ended_at)
        moved = Session.objects.filter(pk=snapshot.pk)
        moved.update(created_at=began_at, last_active_at=last_at, ended_at=ended_at)
        load.mark(snapshot.session)

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        sessions = load.marked(Session)
        went_on = set(Turn.objects.filter(session__in=sessions, created_at__gt=load.loaded_at).values_list("session"))
        gone = sessions.exclude(pk__in=[pk for (pk,) in went_on])
        return [delete_rows(_("Sessions"), gone, len(went_on))]
