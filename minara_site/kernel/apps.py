"""The kernel as a Django app."""

from django.apps import AppConfig


class KernelConfig(AppConfig):
    """Loads the system checks."""

    name = "minara_site.kernel"
    label = "kernel"

    def ready(self) -> None:
        """Register what Django finds only by import."""
        from minara_site.kernel import checks  # noqa: F401
