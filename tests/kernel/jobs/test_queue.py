"""The queue proper: django-q2 carries ids, and its failures are survived."""

import pytest
from django.db import OperationalError
from django_q.models import OrmQ

from minara_site.kernel.jobs.queue import q2 as queue

pytestmark = pytest.mark.django_db


@pytest.mark.database
def test_carries_only_the_id():
    assert queue.push(42)
    assert queue.count_waiting() == 1
    task = OrmQ.objects.get().task
    assert (task["func"], task["args"], task["kwargs"]) == (queue.EXECUTE, (42,), {})


def test_a_queue_that_does_not_answer_is_survived(monkeypatch, caplog):
    def refuse(*arguments, **options):
        raise OperationalError("database is locked")

    monkeypatch.setattr(queue, "async_task", refuse)
    assert not queue.push(42)
    assert "job_not_queued" in caplog.text


class Dead:
    exitcode = -9


def test_a_cluster_whose_worker_was_killed_is_given_up():
    guard = queue.Guard.__new__(queue.Guard)
    with pytest.raises(SystemExit):
        guard.reincarnate(Dead())
