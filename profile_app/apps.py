"""The app and its label."""

from importlib import import_module

from django.apps import AppConfig


class ProfileConfig(AppConfig):
    """Who the user is, and the prompt that is built from it all."""

    name = "profile_app"

    def ready(self) -> None:
        """Start what needs every app's tables; they are there from here on."""
        import_module("profile_app.startup").start()
