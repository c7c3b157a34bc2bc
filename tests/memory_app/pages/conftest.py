"""Fixtures of the compiled pages' tests."""

from tests.kernel.conftest import migrated_site, site

__all__ = ["migrated_site", "site"]
