"""The demo's values of the user profile; what the owner has said stays."""

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.user_profile.services import MAX_ENTRIES, set_entry
from minara_site.access.models import User
from minara_site.kernel.demo import DemoLoad, DemoPart, DemoRow, RemovedRows, read_rows


class DemoValue(DemoRow):
    """The value of a key."""

    key: str
    value: str


class ProfilePart(DemoPart[DemoValue]):
    """Values of the user profile."""

    name, rows = "user_profile", read_rows(DemoValue, __package__)

    def store(self, load: DemoLoad, owner: User, row: DemoValue) -> None:
        entries = UserProfileEntry.objects.for_owner(owner)
        if entries.filter(key=row.key).exists() or entries.count() >= MAX_ENTRIES:
            return
        made = set_entry(
            owner=owner,
            key=row.key,
            value=row.value,
            actor=load.actor,
            now=load.now,
        )
        revisions = UserProfileRevision.objects.for_owner(owner).filter(key=row.key, replaced_at=load.now)
        UserProfileEntry.objects.filter(pk=made.entry.pk).update(actor=f"user:{owner.pk}")  # the story: they said it
        load.mark(made.entry, *revisions)

    def remove(self, load: DemoLoad) -> list[RemovedRows]:
        entries, revisions = load.marked(UserProfileEntry), load.marked(UserProfileRevision)
        written = entries.filter(Q(updated_at__gt=load.loaded_at) | ~Q(held_value="", discarded_value=""))
        for entry in written:
            revisions = revisions.exclude(owner=entry.owner_id, key=entry.key)
        removed = RemovedRows(
            _("Profile values"),
            entries.count() - written.count(),
            written.count(),
        )
        entries.exclude(pk__in=list(written.values_list("pk", flat=True))).delete()
        revisions.delete()
        return [removed]
