"""The kernel as a Django app."""

import atexit
from importlib import import_module

from django.apps import AppConfig


class KernelConfig(AppConfig):
    """Loads the system checks, and lets each process close its connections at its end."""

    name = "minara_site.kernel"
    label = "kernel"

    def ready(self) -> None:
        """Register the checks: importing them does."""
        import_module("minara_site.kernel.checks")
        atexit.register(import_module("minara_site.kernel.db").close_connections)
