"""Which note of a deployment is in force. One that the guard holds supersedes nothing until a person releases it."""

from learning_app.lessons.core import NOTE_KIND, NoteStatus
from learning_app.lessons.models import ReflectionNote
from learning_app.lessons.selectors import list_in_force
from minara_site.kernel.guard import core as guard
from minara_site.kernel.guard.held_at import store_judged


def store_note(note: ReflectionNote) -> None:
    """Store a new note; the one in force is superseded in the same transaction. Needs the lock of its owner.

    A held one is stored with `held_at` equal to `created_at`, and comes into force at its release.
    """
    note.status = NoteStatus.SUPERSEDED
    if not guard.judge(note.guarded_text).is_held:
        supersede_active(note)
        note.status = NoteStatus.ACTIVE
    store_judged(NOTE_KIND, note, now=note.created_at)


def supersede_active(note: ReflectionNote) -> None:
    """End the note in force of the same deployment."""
    active = ReflectionNote.objects.filter(deployment=note.deployment_id, status=NoteStatus.ACTIVE)
    active.update(status=NoteStatus.SUPERSEDED)


def put_in_force(note: ReflectionNote) -> None:
    """Put a released note in force, unless a newer one is. Needs the lock of its owner."""
    newer = ReflectionNote.objects.filter(deployment=note.deployment_id, status=NoteStatus.ACTIVE)
    if note.deployment_id and not newer.filter(generated_at__gte=note.generated_at).exists():
        supersede_active(note)
        ReflectionNote.objects.filter(pk=note.pk).update(status=NoteStatus.ACTIVE)


def withdraw(note: ReflectionNote) -> None:
    """Supersede a note, if it is in force; the one before it is again. Needs the owner's lock."""
    active = ReflectionNote.objects.filter(pk=note.pk, status=NoteStatus.ACTIVE)
    if active.update(status=NoteStatus.SUPERSEDED):
        before = list_in_force(note.deployment_id).exclude(pk=note.pk).first()
        ReflectionNote.objects.filter(pk=before.pk if before else None).update(status=NoteStatus.ACTIVE)
