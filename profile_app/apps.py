"""The app and its label."""

from django.apps import AppConfig


class ProfileConfig(AppConfig):
    """Registers the app."""

    name = "profile_app"
