"""What a site's process stores before somebody sits down at a terminal."""

from django.core.management import call_command
from django.utils import timezone

from memory_app.memories.services import Draft, write_memory
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import Category, Provenance, Source


def seed(folder: str) -> None:
    """Export a hard constraint of the default user, for one who has none."""
    draft = Draft(
        Category.PREFERENCE,
        "Never above 3x",
        Provenance(Source.USER_MANUAL, "user:1"),
        "constraint.hard",
    )
    write_memory(owner_id=User.objects.get(is_default=True).pk, draft=draft, now=timezone.now())
    User.objects.create(username="ben")
    call_command("memory", "export", "--out", folder, "--sign", "--include-constraints")
