"""Reads of lessons."""

from learning_app.lessons.models import ReflectionNote


def load_newest_notes(deployment_id: int) -> list[ReflectionNote]:
    """Return the active note of a deployment and the one before it, newest first. One query."""
    return list(ReflectionNote.objects.filter(deployment=deployment_id).order_by("-generated_at", "-pk")[:2])


def find_note(deployment_id: int, content_hash: str) -> ReflectionNote | None:
    """Return the newest note of a deployment with these lessons. One query."""
    notes = ReflectionNote.objects.filter(deployment=deployment_id, content_hash=content_hash)
    note: ReflectionNote | None = notes.order_by("-generated_at", "-pk").first()
    return note
