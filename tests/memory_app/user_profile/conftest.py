"""Fixtures of the user profile's tests."""

from tests.kernel.conftest import migrated_site, site

__all__ = ["migrated_site", "site"]
