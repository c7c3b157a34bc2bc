"""Jobs survive for long: the full counts of R-38 and R-39."""

import os
import random
import signal
import time
from contextlib import suppress

import pytest

from tests.kernel.jobs.probe.looks import WORKER, ask, effects, states
from tests.kit.site import wait_until

pytestmark = [pytest.mark.soak, pytest.mark.processes, pytest.mark.database]

RUNS = 1000
WORKER_KILLS = 30
CLUSTER_KILLS = 5
SERVER_CUTS = 3
PAUSE_SECONDS = 0.7


def cut_connections(site):
    """End every connection of the database, as a server that dies does; a file has none."""
    if site.url:
        site.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            f"WHERE datname = '{site.database}' AND pid <> pg_backend_pid()"
        )


def kill_some_worker(site, clusters, chance):
    mains = {cluster.pid for cluster in clusters}
    others = [process_id for process_id in site.processes(naming=WORKER) if process_id not in mains]
    with suppress(ProcessLookupError, IndexError):
        os.kill(chance.choice(others), signal.SIGKILL)


def test_a_thousand_runs_survive_every_kind_of_death(either_site):
    chance = random.Random(38)
    clusters = [either_site.start("worker") for _each in range(3)]
    ask(either_site, "probe.work_slowly", RUNS, seconds=0.02)
    blows = ["worker"] * WORKER_KILLS + ["cluster"] * CLUSTER_KILLS + ["server"] * SERVER_CUTS
    chance.shuffle(blows)
    for blow in blows:
        time.sleep(PAUSE_SECONDS)
        if blow == "worker":
            kill_some_worker(either_site, clusters, chance)
        elif blow == "server":
            cut_connections(either_site)
        else:
            clusters.pop(chance.randrange(3)).kill()
            clusters.append(either_site.start("worker"))
    wait_until(lambda: set(states(either_site, "probe.work_slowly")) <= {"succeeded", "failed"}, 300)
    assert states(either_site, "probe.work_slowly") == {"succeeded": RUNS}
    numbers = "SELECT count(*), count(DISTINCT details) FROM (SELECT CAST(details AS TEXT) AS details FROM audit_log "
    assert either_site.query(numbers + "WHERE tool_call = 'probe.work_slowly effected') AS effects") == [(RUNS, RUNS)]


def test_three_clusters_run_each_slot_once_for_a_hundred_slots(either_site):
    for _each in range(3):
        either_site.start("worker", PROBE_SLOTS="1")
    wait_until(lambda: effects(either_site, "probe.note_slot") >= 100, 200)
    slots = "SELECT count(*), count(DISTINCT slot) FROM job_runs WHERE job = 'probe.note_slot' AND state = 'succeeded'"
    ran, distinct = either_site.query(slots)[0]
    assert ran == distinct
    assert ran <= effects(either_site, "probe.note_slot") <= ran + 1
