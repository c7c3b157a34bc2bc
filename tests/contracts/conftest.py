"""One world for all tests of a file: made once, and every test's writes are rolled back."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from django.db import connections, transaction

from tests.kit.world import World, build_world


@pytest.fixture(scope="module")
def shared_world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """Make the world inside transactions that are taken back at the end, in every database."""
    with django_db_blocker.unblock(), ExitStack() as stack:
        for alias in connections:
            stack.enter_context(taken_back(alias))
        yield build_world()


@contextmanager
def taken_back(alias: str) -> Iterator[None]:
    """Open a transaction that leaves nothing behind."""
    with transaction.atomic(using=alias):
        try:
            yield
        finally:
            transaction.set_rollback(True, using=alias)


@pytest.fixture
def world(shared_world: World, db: None) -> World:
    """Return the world; what this test writes is taken back after it."""
    return shared_world
