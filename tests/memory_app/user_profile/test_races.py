"""Real processes on one database: no edit brings back what was removed meanwhile, none meets a scan (W-15, P-04)."""

import time

import pytest
from django.utils import timezone

from memory_app.held.rescan import rescan
from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.services import remove_entry, set_entry
from minara_site.access.models import User
from minara_site.kernel.errors import Conflict, NotFound
from tests.kit.site import Site
from tests.memory_app.memories.test_races import START_SECONDS

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


def scan_often(rounds: int, begin: float) -> int:
    """Judge the entry again and again; return how often that was done."""
    time.sleep(max(0.0, begin - time.time()))
    judged = 0
    while judged < rounds:
        UserProfileEntry.objects.update(rules_version="")
        judged += rescan(now=timezone.now())["judged"]
    return judged


@pytest.mark.processes
def test_a_scan_and_an_edit_wait_for_each_other_in_one_order(site: Site) -> None:
    site.call(f"{HERE}:seed")
    begin = time.time() + START_SECONDS
    editing, scanning = (site.act(f"{HERE}:{each}", 200, begin) for each in ("edit_often", "scan_often"))
    assert editing.communicate(timeout=120)[0].strip().splitlines()[-1] == "200"
    assert int(scanning.communicate(timeout=120)[0].strip().splitlines()[-1]) >= 200


@pytest.mark.processes
def test_an_edit_does_not_bring_back_what_was_removed(site: Site) -> None:
    site.call(f"{HERE}:seed")
    begin = time.time() + START_SECONDS
    editing = site.act(f"{HERE}:edit_often", 200, begin)
    replacing = site.act(f"{HERE}:replace_often", 400, begin)
    assert replacing.communicate(timeout=120)[0].strip().splitlines()[-1] == "0"
    assert editing.communicate(timeout=120)[0].strip().splitlines()[-1] == "200"
