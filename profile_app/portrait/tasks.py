"""The job that refreshes a portrait. Source: S3 (`/profile refresh`)."""

from datetime import datetime

from minara_site.access.models import User
from profile_app.portrait.services.bridge import bridge_owner
from profile_app.workspace.services import sync_workspace


def refresh(*, owner_id: int, now: datetime) -> dict[str, int] | None:
    """Read the owner's folder again and bring tags in step with preferences; nothing for an owner who is gone."""
    owner = User.objects.filter(pk=owner_id).first()
    if owner is None:
        return None
    problems = sync_workspace(owner=owner, now=now)
    return {"folder_problems": len(problems), "tags": bridge_owner(owner=owner, now=now)}
