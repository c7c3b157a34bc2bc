"""Fixtures of the tests of access."""

from tests.kernel.conftest import migrated_site, site

__all__ = ["migrated_site", "site"]
