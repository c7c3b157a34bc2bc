"""Jobs survive: real workers, killed with SIGKILL, and each effect is there once (R-38, R-39 with small counts)."""

import json
import os
import signal

import pytest

from tests.kernel.jobs.probe.jobs import GO
from tests.kernel.jobs.probe.looks import ACTS, WORKER, ask, effects, running_worker, states
from tests.kit.site import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.database]

WAITING = "probe.wait_once"
SLOW = "probe.work_slowly"
ENDED = {"probe.die_once": 1, WAITING: 1, "probe.die_with_the_timer": 1, "probe.always_die": 1}


@pytest.fixture(scope="module")
def survivor(probe_sites):
    """An installation that lost its queue, and whose worker died in every way until nothing was left to do."""
    with probe_sites() as site:
        site.call(f"{ACTS}:request_each", *ENDED.items())
        site.clear_queue()
        site.start("worker")
        wait_until(lambda: effects(site, WAITING, "attempted"))
        os.kill(running_worker(site, WAITING), signal.SIGKILL)
        wait_until(lambda: not {"queued", "running"} & {state for job in ENDED for state in states(site, job)})
        yield site


class TestSurvivor:
    def test_a_worker_killed_in_a_job_loses_nothing(self, survivor):
        assert states(survivor, WAITING) == {"succeeded": 1}
        assert (effects(survivor, WAITING, "attempted"), effects(survivor, WAITING)) == (2, 1)

    def test_a_worker_killed_between_effect_and_record_leaves_neither(self, survivor):
        assert states(survivor, "probe.die_once") == {"succeeded": 1}
        assert effects(survivor, "probe.die_once") == 1

    def test_a_worker_killed_with_the_lock_of_its_timer_is_replaced(self, survivor):
        """The guard takes that lock at each look."""
        assert states(survivor, "probe.die_with_the_timer") == {"succeeded": 1}
        assert effects(survivor, "probe.die_with_the_timer") == 1

    def test_a_job_that_kills_its_worker_each_time_ends_as_failed(self, survivor):
        rows = survivor.query("SELECT state, attempts, error FROM job_runs WHERE job = 'probe.always_die'")
        assert [(state, attempts) for state, attempts, _error in rows] == [("failed", 5)]
        assert "Look at the worker's log" in rows[0][2]


def test_an_idle_worker_killed_is_replaced_and_a_stop_gives_the_running_job_back(probe_site):
    """An idle one may have held the lock of the pipe that the workers read."""
    worker = probe_site.start("worker")
    wait_until(lambda: len(probe_site.processes(naming=WORKER)) == 5)
    wait_until(lambda: probe_site.query("SELECT 1 FROM workers_seen"))
    os.kill(probe_site.processes(naming=WORKER)[2], signal.SIGKILL)
    ask(probe_site, SLOW, 3, seconds=0.0)
    wait_until(lambda: states(probe_site, SLOW) == {"succeeded": 3})
    assert effects(probe_site, SLOW) == 3
    ask(probe_site, WAITING)
    wait_until(lambda: running_worker(probe_site, WAITING))
    worker.terminate()
    assert worker.wait(60) == 0
    assert not probe_site.processes(naming=WORKER)
    expired = "SELECT count(*) FROM job_runs WHERE state = 'running' AND lease_expires_at <= CURRENT_TIMESTAMP"
    wait_until(lambda: probe_site.query(expired) == [(1,)])


def test_what_a_killed_cluster_or_a_worker_that_slept_past_its_lease_held_is_done_once(either_site):
    either_site.environment["PROBE_LEASE_SECONDS"] = "2"
    ask(either_site, WAITING)
    first = either_site.start("worker")
    wait_until(lambda: running_worker(either_site, WAITING))
    first.kill()
    first.wait()
    wait_until(lambda: not either_site.processes(naming=WORKER))
    either_site.start("worker")
    wait_until(lambda: states(either_site, WAITING) == {"succeeded": 1})
    assert effects(either_site, WAITING) == 1

    ask(either_site, WAITING)
    sleeper = wait_until(lambda: running_worker(either_site, WAITING))
    os.kill(sleeper, signal.SIGSTOP)
    either_site.start("worker")
    wait_until(lambda: states(either_site, WAITING) == {"succeeded": 2})
    (either_site.folder / GO).touch()
    os.kill(sleeper, signal.SIGCONT)
    wait_until(lambda: effects(either_site, WAITING, "refused"))
    assert effects(either_site, WAITING) == 2


def test_a_job_that_takes_too_long_is_stopped_and_tried_again(either_site):
    ask(either_site, SLOW, seconds=60.0)
    worker = either_site.start("worker", PROBE_TIMEOUT_SECONDS="2")
    wait_until(lambda: effects(either_site, SLOW, "attempted") >= 2)
    error = either_site.query(f"SELECT error FROM job_runs WHERE job = '{SLOW}'")[0][0]
    assert "MINARA_JOB_TIMEOUT_SECONDS" in error
    assert effects(either_site, SLOW) == 0
    worker.kill()


def test_two_clusters_share_what_three_writers_ask_for_and_run_it_once_however_long_it_takes(either_site):
    """A message that is not settled within the queue's patience comes again."""
    clusters = [either_site.start("worker", PROBE_RETRY_SECONDS="1") for _each in range(2)]
    ask(either_site, SLOW, seconds=4.0)
    either_site.call(f"{ACTS}:request_at_once", 3, SLOW, 20, {"seconds": 0.0})
    wait_until(lambda: states(either_site, SLOW) == {"succeeded": 61})
    assert (effects(either_site, SLOW, "attempted"), effects(either_site, SLOW)) == (61, 61)
    for cluster in clusters:
        cluster.terminate()
        assert "locked" not in cluster.communicate(timeout=60)[0]


def test_three_schedulers_create_each_slot_once(probe_site):
    probe_site.environment["PROBE_SLOTS"] = "1"
    probe_site.call(f"{ACTS}:race_for_slots", 3, 20)
    slots = "SELECT count(*), count(DISTINCT slot) FROM job_runs WHERE job = 'probe.note_slot'"
    assert probe_site.query(slots) == [(20, 20)]


def test_of_several_processes_one_gets_a_lease(site):
    won = json.loads(site.call(f"{ACTS}:race_for_leases", 4, 40).splitlines()[-1])
    assert sum(won) == 40


def test_a_lease_given_back_at_the_same_moment_is_no_error(site):
    assert json.loads(site.call(f"{ACTS}:pass_a_lease_on", 4, 50).splitlines()[-1]) == [50] * 4
