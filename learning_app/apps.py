"""The app and its label."""

from django.apps import AppConfig


class LearningConfig(AppConfig):
    """Registers the app."""

    name = "learning_app"
