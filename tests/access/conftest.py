"""What the tests of access share."""

import pytest


@pytest.fixture(autouse=True)
def quick_passwords(settings):
    """Hash passwords in no time."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
