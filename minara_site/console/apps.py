"""The app and its label."""

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    """Registers the app."""

    name = "minara_site.console"
    label = "console"
