"""The app's tables, room by room."""

from profile_app.prompt.models import SessionSnapshot

__all__ = ["SessionSnapshot"]
