"""The app and its label."""

from importlib import import_module

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    """What the agent remembers."""

    name = "memory_app"

    def ready(self) -> None:
        """Start what needs every app's tables; they are there from here on."""
        import_module("memory_app.startup").start()
