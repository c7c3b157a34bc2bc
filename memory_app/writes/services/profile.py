"""Rolling back values of user profiles; what today's rules refuse is held."""

from memory_app.user_profile.core import PROFILE_KIND
from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from memory_app.user_profile.selectors import find_entry, find_hold
from memory_app.user_profile.services import keep_revision, set_earlier, take_turns
from memory_app.writes.core.profile import EntryStep
from memory_app.writes.models import RolledBackEntry
from minara_site.access.models import User
from minara_site.kernel.guard.services import lift_holds
from minara_site.kernel.rollback import RollbackRecord


def apply_entry_step(record: RollbackRecord, step: EntryStep) -> None:
    """Give an entry of a profile the value of an earlier revision; without a value the entry goes."""
    owner = User.objects.get(pk=step.owner_id)
    take_turns(owner)
    earlier = UserProfileRevision.objects.get(pk=step.revision_id)
    entry = find_entry(owner=owner, key=step.key) or UserProfileEntry(owner=owner, key=step.key)
    keep_revision(entry, actor=record.actor, now=record.at)
    hold = find_hold(entry) if record.undoes is not None else None
    if hold is not None and hold.held_at == record.undoes.at:  # held by the roll-back that is undone
        entry.held_value = ""
        lift_holds(
            kind=PROFILE_KIND,
            object_ids=[entry.pk],
            actor=record.undoes.actor,
            now=record.at,
        )
    if earlier.value:
        set_earlier(entry, earlier, now=record.at)
    elif entry.held_value:  # what is held goes on waiting
        entry.value = ""
        entry.save()
    elif entry.pk is not None:
        entry.delete()
    replaced = UserProfileRevision.objects.for_owner(owner).filter(key=step.key).latest("pk")
    RolledBackEntry.objects.create(
        rollback_id=record.pk,
        owner=owner,
        key=step.key,
        revision=replaced,
    )
