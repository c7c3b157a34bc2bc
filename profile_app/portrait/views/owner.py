"""Whose profile a page shows."""

from django.utils import timezone

from minara_site.access.models import User
from minara_site.shell.pages import PageRequest
from profile_app.portrait.services.profile import open_profile


def open_owner(request: PageRequest, *, kind: str = "profile") -> User:
    """Return whose profile a page shows, and log what is read of another owner. Raises NotFound."""
    return open_profile(
        principal=request.principal,
        owner_name=request.GET.get("owner"),
        now=timezone.now(),
        kind=kind,
    )
