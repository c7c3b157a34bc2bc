"""Fixtures for every test: people, keys, real database files, and a browser."""

import shutil
import signal

import pytest
from django.conf import settings
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

hypothesis_settings.register_profile(  # machines are noisy; figures come from the bench
    "minara", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
hypothesis_settings.load_profile("minara")

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a background shell, and so by our processes too

pytest_plugins = ["tests.fixtures", "tests.browser.chromium"]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder of this process."""
    shutil.rmtree(settings.DATA_DIR, ignore_errors=True)
