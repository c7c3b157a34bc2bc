"""The site of the web tests serves here too."""

from tests.web.conftest import test_site

__all__ = ["test_site"]
