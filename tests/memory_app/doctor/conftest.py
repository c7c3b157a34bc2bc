"""Fixtures of the doctor's tests: a provider that answers, and installations of their own."""

from tests.kernel.conftest import migrated_site, site
from tests.memory_app.embeddings.conftest import enable, endpoint

__all__ = ["enable", "endpoint", "migrated_site", "site"]
