"""The demo's values of the user profile; what the owner has said stays."""

from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.user_profile.services import MAX_ENTRIES, set_entry
from minara_site.access.models import User
from minara_site.kernel.demo import DemoLoad, DemoPart, DemoRow, read_rows


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
        made = set_entry(owner=owner, key=row.key, value=row.value, actor=load.actor, now=load.now)
        revisions = UserProfileRevision.objects.for_owner(owner).filter(key=row.key, replaced_at=load.now)
        load.mark(made.entry, *revisions)

    def remove(self, load: DemoLoad) -> None:
        for model in (UserProfileEntry, UserProfileRevision):
            load.marked(model).delete()
