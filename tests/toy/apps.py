"""The app and its label."""

from django.apps import AppConfig


class ToyConfig(AppConfig):
    """Registers the app."""

    name = "tests.toy"
    label = "toy"
