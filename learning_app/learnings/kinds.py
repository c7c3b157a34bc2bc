"""Learnings as a kind: the text under guard with the purge of deleted ones, and what acts change."""

from collections.abc import Sequence
from datetime import datetime

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _, ngettext_lazy, pgettext_lazy

from learning_app.learnings.core import LEARNING_KIND
from learning_app.learnings.models import Learning
from learning_app.learnings.selectors import require_learning_on, retention
from learning_app.learnings.services.change import is_restorable, save_judged
from minara_site.access.actors import is_operator
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.changes.core import State, Step
from minara_site.kernel.changes.kinds import Changes
from minara_site.kernel.changes.models import ChangeSet
from minara_site.kernel.changes.services import UNDONE
from minara_site.kernel.core.vocabulary import AGENT_ACTOR
from minara_site.kernel.guard.held_at import HeldAtKind
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.guard.services import delete_holds
from minara_site.kernel.unchanged import UnchangedReason

PURGE_ACTOR = "job:memories.purge_expired"
MAX_PURGED = 5_000  # in one transaction; the next tick goes on


class LearningKind(HeldAtKind):
    """Name, trigger, guidance and steps of a learning."""

    name = LEARNING_KIND
    label = pgettext_lazy("learning", "Learning")
    model = Learning
    on_release = _("The next suggestions may offer it.")

    def title_of(self, row: Learning) -> str:
        """Return the name that its writer gave it, without secrets."""
        return str(_("Learning “%(name)s”")) % {"name": mask(row.name)}

    def url(self, object_id: int) -> str:
        """Return the page of a learning, empty once it is gone."""
        uid = Learning.objects.filter(pk=object_id, deleted_at__isnull=True).values_list("uid", flat=True).first()
        return reverse("learnings:one", args=[uid]) if uid else ""

    def url_of(self, row: Learning) -> str:
        return reverse("learnings:one", args=[row.uid]) if row.deleted_at is None else ""

    def purge_discarded(self, *, cutoff: datetime) -> int:
        """Delete discarded learnings, and those that were deleted by then; each deleted one leaves an audit row."""
        purged = super().purge_discarded(cutoff=cutoff)
        expired = Learning.objects.filter(deleted_at__lte=cutoff).order_by("pk").select_for_update(of=("self",))
        rows = list(expired[:MAX_PURGED])
        now = timezone.now()
        for row in rows:
            details = {"id": row.uid, "sha256": content_digest(row.guarded_text)}
            record_audit(
                now=now,
                actor=PURGE_ACTOR,
                tool_call="learning_purged",
                owner_id=row.owner_id,
                details=details,
            )
        ids = [row.pk for row in rows]
        delete_holds(kind=LEARNING_KIND, object_ids=ids)
        self.delete_derived(ids)
        Learning.objects.filter(pk__in=ids).delete()
        return purged + len(rows)


class LearningChanges(Changes):
    """Edits of the guidance, deletions and restores. One whose storing is undone is deleted."""

    name, model = LEARNING_KIND, Learning
    columns = ("deleted_at", "deleted_by", "edited_by", "text_version", "updated_at")
    id_column, beside, texts, differs = "uid", ("updated_at",), ("guidance",), UnchangedReason.MOVED_SINCE
    undone = ngettext_lazy("Undone for %(number)s learning.", "Undone for %(number)s learnings.", "count")

    def gone(self, state: State, *, actor: str, now: datetime) -> State:
        return {**state, "deleted_at": now, "deleted_by": actor, "updated_at": now}

    def sign(self, state: State, target: State, *, actor: str) -> State:
        """Name who undoes what an agent edited or deleted: no key changes the row again."""
        is_edited = state["text_version"] != target["text_version"]
        by = state["edited_by"] if is_edited else state["deleted_by"]
        return {**target, "edited_by": actor} if by.startswith(AGENT_ACTOR) else target

    def may_restore(self, steps: Sequence[Step], *, actor: str, now: datetime) -> dict[str, UnchangedReason]:
        """Return why deleted rows stay: their purge is due, or another person deleted them, and no operator asks."""
        coming = [step for step in steps if step.before["deleted_at"] and not step.after["deleted_at"]]
        expired = [step.key for step in coming if step.before["deleted_at"] <= now - retention()]
        others = [step.key for step in coming if not is_restorable(step.row.deleted_by, actor=actor)]
        others = [] if others and is_operator(actor) else others
        return dict.fromkeys(others, UnchangedReason.DECIDED) | dict.fromkeys(expired, UnchangedReason.GONE)

    def restore(self, steps: Sequence[Step], *, made: ChangeSet) -> None:
        """Store rows. Raises Conflict for an undo, while learning is switched off, of what is not deleted by it."""
        rows = [step.row for step in steps]
        if made.act == UNDONE and not all(row.deleted_at for row in rows):
            require_learning_on()
        for row in rows:
            row.version += 1
        save_judged(rows, actor=made.actor, now=made.at)
