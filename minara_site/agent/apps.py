"""The app and its label."""

from django.apps import AppConfig


class AgentConfig(AppConfig):
    """Registers the app."""

    name = "minara_site.agent"
    label = "agent"
