"""The table of jobs: names are unique, and it is known which job anybody can just start."""

import re

import pytest

from minara_site.kernel.jobs import table as jobs_table
from minara_site.kernel.jobs.table import Job
from tests.kit.tables import table


def plain(*, now, claim=None, limit=5):
    return None


def wanting(*, now, memory_id):
    return None


@table(("function", "needs"), [(plain, False), (wanting, True)])
def test_knows_which_job_needs_arguments(function, needs):
    assert Job("probe.job", function).needs_arguments is needs


def test_two_jobs_of_one_name_are_refused(list_jobs):
    list_jobs(Job("probe.job", plain), Job("probe.job", wanting))
    with pytest.raises(ValueError, match=r"probe\.job"):
        jobs_table.load_jobs()


def test_every_job_of_the_apps_is_named_after_its_room_and_says_what_it_does():
    jobs_table.load_jobs.cache_clear()
    jobs = jobs_table.load_jobs()
    assert jobs
    assert [name for name in jobs if not re.fullmatch(r"[a-z]\w*\.[a-z]\w*", name)] == []
    assert [job.name for job in jobs.values() if not job.summary] == []
