"""Notes, as rows."""

from tests.kit.clock import NOON


def make(owner, *texts):
    """Store notes that rules of before accepted."""
    from tests.toy.models import Note

    stamps = {"created_at": NOON, "updated_at": NOON, "rules_version": "older"}
    return Note.objects.bulk_create(Note(owner=owner, text=text, actor="key:abcd1234", **stamps) for text in texts)
