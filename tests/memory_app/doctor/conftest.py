"""Fixtures of the doctor's tests: a provider that answers."""

from tests.memory_app.embeddings.conftest import enable, endpoint

__all__ = ["enable", "endpoint"]
