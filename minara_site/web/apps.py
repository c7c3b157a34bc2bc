"""The web layer as a Django app."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    """Brings template tags; has no tables."""

    name = "minara_site.web"
    label = "web"
