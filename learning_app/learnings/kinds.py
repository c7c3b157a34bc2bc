"""The text of a learning as a kind of stored text, and the purge of deleted ones."""

from datetime import datetime

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from learning_app.learnings.core import LEARNING_KIND
from learning_app.learnings.models import Learning
from minara_site.kernel.audit_log.services import content_digest, record_audit
from minara_site.kernel.guard.held_at import HeldAtKind
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.guard.services import delete_holds

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
        Learning.objects.filter(pk__in=ids).delete()
        return purged + len(rows)
