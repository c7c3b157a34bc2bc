"""Fixtures of the browser tests."""

from tests.web.conftest import test_site

__all__ = ["test_site"]
