"""Fixtures of the web tests."""

from datetime import timedelta
from typing import Any

import pytest

from minara_site.access.models import AccessEntry
from tests.kit.clock import NOON


@pytest.fixture
def test_site(settings: Any) -> None:
    """Mount the site of `tests.web.site` with its templates."""
    engine = settings.TEMPLATES[0]
    settings.TEMPLATES = [{**engine, "DIRS": [*engine["DIRS"], settings.BASE_DIR / "tests/web/templates"]}]
    settings.ROOT_URLCONF = "tests.web.site"


def make_entries(owner: Any, count: int, *, start: int = 0, every: int = 1) -> list[AccessEntry]:
    """Write rows whose times repeat every `every` rows, so that ties happen."""
    fields = {"viewer": owner, "owner": owner, "kind": "lesson"}
    return AccessEntry.objects.bulk_create(
        AccessEntry(at=NOON + timedelta(minutes=n // every), object_id=f"row {n}", **fields)
        for n in range(start, start + count)
    )
