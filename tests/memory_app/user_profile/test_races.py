"""Real processes on one database: an edit never brings back what somebody removed meanwhile (W-15)."""

import time

import pytest
from django.utils import timezone

from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.services import remove_entry, set_entry
from minara_site.access.models import User
from minara_site.kernel.errors import Conflict, NotFound
from tests.memory_app.memories.test_races import START_SECONDS
from tests.site import Site

HERE = "tests.memory_app.user_profile.test_races"
KEY = "risk"


def owner() -> User:
    return User.objects.get(is_default=True)


def seed() -> None:
    """Store the entry."""
    set_entry(owner=owner(), key=KEY, value="first", actor="test", now=timezone.now())


def edit_often(rounds: int, begin: float) -> int:
    """Edit what is read each time; return how many edits were taken."""
    time.sleep(max(0.0, begin - time.time()))
    taken = 0
    while taken < rounds:
        entry = UserProfileEntry.objects.filter(key=KEY).first()
        if entry is None:
            continue
        try:
            set_entry(
                owner=owner(),
                key=KEY,
                value=f"edit {taken}",
                actor="test",
                now=timezone.now(),
                expected_updated_at=entry.updated_at,
            )
        except (Conflict, NotFound):
            continue
        taken += 1
    return taken


def replace_often(rounds: int, begin: float) -> int:
    """Remove the entry and add it again; return how often it stood there already."""
    time.sleep(max(0.0, begin - time.time()))
    met = 0
    for number in range(rounds):
        remove_entry(owner=owner(), key=KEY, actor="test", now=timezone.now())
        try:
            set_entry(owner=owner(), key=KEY, value=f"new {number}", actor="test", now=timezone.now(), must_be_new=True)
        except Conflict:
            met += 1
    return met


@pytest.mark.processes
def test_an_edit_does_not_bring_back_what_was_removed(site: Site) -> None:
    site.call(f"{HERE}:seed")
    begin = time.time() + START_SECONDS
    editing = site.act(f"{HERE}:edit_often", 200, begin)
    replacing = site.act(f"{HERE}:replace_often", 400, begin)
    assert replacing.communicate(timeout=120)[0].strip().splitlines()[-1] == "0"
    assert editing.communicate(timeout=120)[0].strip().splitlines()[-1] == "200"
