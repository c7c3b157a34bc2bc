"""What pages and probes ask the queue."""

from datetime import timedelta

import pytest

from minara_site.kernel.jobs.models import WorkerSeen
from minara_site.kernel.jobs.selectors import is_worker_seen

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_a_worker_counts_as_seen_for_a_minute(now):
    assert not is_worker_seen(now=now)
    WorkerSeen.objects.create(name="host:1", seen_at=now)
    assert is_worker_seen(now=now + timedelta(seconds=60))
    assert not is_worker_seen(now=now + timedelta(seconds=60, microseconds=1))
