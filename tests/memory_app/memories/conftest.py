"""Fixtures of the memories' tests."""

from typing import Any

import pytest

from tests.kernel.conftest import migrated_site, site

__all__ = ["migrated_site", "site"]


@pytest.fixture(autouse=True)
def quick_passwords(settings: Any) -> None:
    """Keep signing in cheap."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
