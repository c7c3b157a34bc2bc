"""One world for all tests of a file: made once, and every test's writes are rolled back."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction

from tests.contracts.world import World, build_world


@pytest.fixture(scope="module")
def shared_world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """Make the world inside a transaction that is taken back at the end."""
    with django_db_blocker.unblock():
        outer = transaction.atomic()
        outer.__enter__()
        try:
            yield build_world()
        finally:
            transaction.set_rollback(True)
            outer.__exit__(None, None, None)


@pytest.fixture
def world(shared_world: World, db: None) -> World:
    """Return the world; what this test writes is taken back after it."""
    return shared_world
