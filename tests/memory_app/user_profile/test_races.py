"""Real processes on one database: no edit brings back what was removed meanwhile, none meets a scan (W-15, P-04)."""

import json

import pytest
from django.utils import timezone

from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.services import remove_entry, set_entry
from minara_site.access.models import User
from minara_site.kernel.errors import Conflict, NotFound
from minara_site.kernel.guard.rescan import rescan
from tests.kit.racers import in_processes
from tests.kit.site import Site

pytestmark = [pytest.mark.processes, pytest.mark.database]
HERE = "tests.memory_app.user_profile.test_races"
KEY = "risk"


def owner() -> User:
    return User.objects.get(is_default=True)


def seed() -> None:
    """Store the entry."""
    set_entry(owner=owner(), key=KEY, value="first", actor="test", now=timezone.now())


def edit_often(rounds: int) -> int:
    """Edit what is read each time; return how many edits were taken."""
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


def replace_often(rounds: int) -> int:
    """Remove the entry and add it again; return how often it stood there already."""
    met = 0
    for number in range(rounds):
        remove_entry(owner=owner(), key=KEY, actor="test", now=timezone.now())
        try:
            set_entry(
                owner=owner(),
                key=KEY,
                value=f"new {number}",
                actor="test",
                now=timezone.now(),
                must_be_new=True,
            )
        except Conflict:
            met += 1
    return met


def scan_often(rounds: int) -> int:
    """Judge the entry again and again; return how often that was done."""
    judged = 0
    while judged < rounds:
        UserProfileEntry.objects.update(rules_version="")
        judged += rescan(now=timezone.now())["judged"]
    return judged


def edit_and_scan(rounds: int) -> str:
    seed()
    return json.dumps(in_processes((edit_often, rounds), (scan_often, rounds)))


def edit_and_replace(rounds: int) -> str:
    seed()
    return json.dumps(in_processes((edit_often, rounds), (replace_often, 2 * rounds)))


def test_a_scan_and_an_edit_wait_for_each_other_in_one_order(site: Site) -> None:
    edited, judged = json.loads(site.call(f"{HERE}:edit_and_scan", 100).splitlines()[-1])
    assert edited == 100
    assert judged >= 100


def test_an_edit_does_not_bring_back_what_was_removed(site: Site) -> None:
    assert json.loads(site.call(f"{HERE}:edit_and_replace", 100).splitlines()[-1]) == [100, 0]
