"""Fixtures for every test: people, keys, real database files, and a browser."""

import shutil
import signal

import pytest
from django.conf import settings
from hypothesis import HealthCheck, settings as hypothesis_settings

hypothesis_settings.register_profile(  # machines are noisy; figures come from the bench
    "minara",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
hypothesis_settings.load_profile("minara")

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a background shell, and so by our processes too

pytest_plugins = [f"tests.kit.{name}" for name in ("fixtures", "clock", "visitor", "world", "chromium", "report")]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder of this process."""
    shutil.rmtree(settings.DATA_DIR, ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On PostgreSQL, run what a database decides."""
    if not settings.MINARA.database_url:
        return
    left = [item for item in items if not item.get_closest_marker("database")]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item.get_closest_marker("database")]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Open the queue's database to every test that has one: on SQLite, limits are counted there.

    One that commits puts back what the migrations wrote: else Django writes it anew under other ids, and the next fails.
    """
    marker = item.get_closest_marker("django_db")
    if marker is None and "db" not in getattr(item, "fixturenames", ()):
        return
    options = {"databases": "__all__", **(marker.kwargs if marker else {})}
    if options.get("transaction"):
        options["serialized_rollback"] = True
    item.add_marker(pytest.mark.django_db(**options), append=False)
