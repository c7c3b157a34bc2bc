"""Jobs survive: real workers, killed with SIGKILL, and each effect stands once (R-38, R-39 with small counts)."""

import os
import signal

import pytest

from tests.kernel.jobs.probe.looks import ACTS, WORKER, ask, effects, running_worker, states
from tests.kit.site import wait_until

pytestmark = pytest.mark.processes


def test_a_worker_killed_in_a_job_loses_nothing(probe_site):
    ask(probe_site, "probe.work_slowly", seconds=1.0)
    probe_site.start("worker")
    wait_until(lambda: effects(probe_site, "attempted"))
    os.kill(running_worker(probe_site), signal.SIGKILL)
    wait_until(lambda: states(probe_site, "probe.work_slowly") == {"succeeded": 1})
    assert (effects(probe_site, "attempted"), effects(probe_site)) == (2, 1)


def test_a_worker_killed_between_effect_and_record_leaves_neither(probe_site):
    ask(probe_site, "probe.die_once", 3)
    probe_site.start("worker")
    wait_until(lambda: states(probe_site, "probe.die_once") == {"succeeded": 3})
    assert effects(probe_site) == 3


def test_a_job_that_kills_its_worker_each_time_ends_as_failed(probe_site):
    probe_site.call(f"{ACTS}:request_plain", "probe.always_die")
    probe_site.start("worker")
    wait_until(lambda: states(probe_site, "probe.always_die") == {"failed": 1})
    attempts, error = probe_site.query("SELECT attempts, error FROM job_runs WHERE job = 'probe.always_die'")[0]
    assert attempts == 5
    assert "Look at the worker's log" in error


def test_an_idle_worker_killed_is_replaced(probe_site):
    """It may have held the lock of the pipe that the workers read."""
    probe_site.start("worker")
    wait_until(lambda: len(probe_site.processes(naming=WORKER)) == 5)
    wait_until(lambda: probe_site.query("SELECT 1 FROM workers_seen"))
    os.kill(probe_site.processes(naming=WORKER)[2], signal.SIGKILL)
    ask(probe_site, "probe.work_slowly", 3, seconds=0.0)
    wait_until(lambda: states(probe_site, "probe.work_slowly") == {"succeeded": 3})
    assert effects(probe_site) == 3


def test_a_worker_killed_with_the_lock_of_its_timer_is_replaced(probe_site):
    """The guard takes that lock at each look."""
    ask(probe_site, "probe.die_with_the_timer", 2)
    probe_site.start("worker")
    wait_until(lambda: states(probe_site, "probe.die_with_the_timer") == {"succeeded": 2})
    assert effects(probe_site) == 2


def test_no_worker_outlives_its_killed_cluster_and_the_next_takes_over(probe_site):
    ask(probe_site, "probe.work_slowly", seconds=3.0)
    first = probe_site.start("worker")
    wait_until(lambda: running_worker(probe_site))
    first.kill()
    first.wait()
    wait_until(lambda: not probe_site.processes(naming=WORKER))
    probe_site.start("worker")
    wait_until(lambda: states(probe_site, "probe.work_slowly") == {"succeeded": 1})
    assert effects(probe_site) == 1


def test_a_worker_that_slept_past_its_lease_leaves_no_effect(probe_site):
    ask(probe_site, "probe.work_slowly", seconds=1.0)
    probe_site.start("worker")
    wait_until(lambda: effects(probe_site, "attempted"))
    sleeper = running_worker(probe_site)
    os.kill(sleeper, signal.SIGSTOP)
    probe_site.start("worker")
    wait_until(lambda: states(probe_site, "probe.work_slowly") == {"succeeded": 1})
    os.kill(sleeper, signal.SIGCONT)
    ask(probe_site, "probe.work_slowly", seconds=2.0)
    wait_until(lambda: states(probe_site, "probe.work_slowly") == {"succeeded": 2})
    assert effects(probe_site) == 2


def test_a_lost_queue_loses_no_work(probe_site):
    ask(probe_site, "probe.work_slowly", 4, seconds=0.0)
    probe_site.clear_queue()
    probe_site.start("worker")
    wait_until(lambda: states(probe_site, "probe.work_slowly") == {"succeeded": 4})
    assert effects(probe_site) == 4


def test_stops_within_seconds_and_hands_its_job_on(probe_site):
    ask(probe_site, "probe.work_slowly", seconds=60.0)
    worker = probe_site.start("worker")
    wait_until(lambda: running_worker(probe_site))
    worker.terminate()
    assert worker.wait(30) == 0
    assert not probe_site.processes(naming=WORKER)
    expired = "SELECT count(*) FROM job_runs WHERE state = 'running' AND lease_expires_at <= CURRENT_TIMESTAMP"
    wait_until(lambda: probe_site.query(expired) == [(1,)])


def test_a_job_longer_than_the_queues_patience_runs_once(probe_site):
    ask(probe_site, "probe.work_slowly", seconds=4.0)
    for _cluster in range(2):
        probe_site.start("worker", PROBE_RETRY_SECONDS="1")
    wait_until(lambda: states(probe_site, "probe.work_slowly") == {"succeeded": 1})
    assert (effects(probe_site, "attempted"), effects(probe_site)) == (1, 1)


def test_a_job_that_takes_too_long_is_stopped_and_tried_again(probe_site):
    ask(probe_site, "probe.work_slowly", seconds=60.0)
    probe_site.start("worker", PROBE_TIMEOUT_SECONDS="1")
    wait_until(lambda: effects(probe_site, "attempted") >= 2)
    error = probe_site.query("SELECT error FROM job_runs WHERE job = 'probe.work_slowly'")[0][0]
    assert "MINARA_JOB_TIMEOUT_SECONDS" in error
    assert effects(probe_site) == 0


def test_two_clusters_share_what_three_writers_ask_for_and_nobody_waits_in_vain(probe_site):
    clusters = [probe_site.start("worker") for _each in range(2)]
    wanted = {"seconds": 0.0}
    writers = [probe_site.act(f"{ACTS}:request", "probe.work_slowly", 20, wanted) for _each in range(3)]
    assert [writer.wait(120) for writer in writers] == [0, 0, 0]
    wait_until(lambda: states(probe_site, "probe.work_slowly") == {"succeeded": 60})
    assert (effects(probe_site, "attempted"), effects(probe_site)) == (60, 60)
    for cluster in clusters:
        cluster.terminate()
        assert "locked" not in cluster.communicate(timeout=60)[0]


def test_three_schedulers_create_each_slot_once(probe_site):
    schedulers = [probe_site.act(f"{ACTS}:tick_slots", 20) for _each in range(3)]
    assert [process.wait(120) for process in schedulers] == [0, 0, 0]
    slots = "SELECT count(*), count(DISTINCT slot) FROM job_runs WHERE job = 'probe.note_slot'"
    assert probe_site.query(slots) == [(20, 20)]


def test_of_several_processes_one_gets_a_lease(probe_site):
    racers = [probe_site.act(f"{ACTS}:race_for_leases", 40, f"racer-{number}") for number in range(4)]
    won = [int(process.communicate(timeout=120)[0].splitlines()[-1]) for process in racers]
    assert sum(won) == 40
