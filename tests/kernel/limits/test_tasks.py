"""The worker deletes counters that say nothing any more."""

from datetime import timedelta

import pytest

from minara_site.kernel.limits.services import count
from minara_site.kernel.limits.tasks import delete_ended


@pytest.mark.django_db
def test_the_job_deletes_ended_counters_once(now):
    count("a", limit=1, seconds=60, now=now)
    assert delete_ended(now=now + timedelta(seconds=119)) == {"deleted": 0}
    assert delete_ended(now=now + timedelta(seconds=120)) == {"deleted": 1}
    assert delete_ended(now=now + timedelta(seconds=120)) == {"deleted": 0}
