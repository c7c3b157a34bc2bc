"""What the app starts with every process."""

from profile_app.activity.listeners import listen


def start() -> None:
    """Hear what other rooms publish."""
    listen()
