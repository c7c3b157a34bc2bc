"""The table of jobs: it is known which job anybody can just start."""

import re

from minara_site.kernel.jobs.table import Job, load_jobs
from tests.kit.tables import table


def plain(*, now, claim=None, limit=5):
    return None


def wanting(*, now, memory_id):
    return None


@table(("function", "needs"), [(plain, False), (wanting, True)])
def test_knows_which_job_needs_arguments(function, needs):
    assert Job("probe.job", function).needs_arguments is needs


def test_every_job_of_the_apps_is_named_after_its_room_and_says_what_it_does():
    jobs = load_jobs()
    assert jobs
    assert [name for name in jobs if not re.fullmatch(r"[a-z]\w*\.[a-z]\w*", name)] == []
    assert [job.name for job in jobs.values() if not job.summary] == []


def test_a_job_of_a_topic_needs_nothing_but_the_ids_that_are_announced():
    jobs = [job for job in load_jobs().values() if job.topics]
    assert [job.name for job in jobs if job.needs_arguments and not job.takes_ids] == []
