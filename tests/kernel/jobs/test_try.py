import os, signal, time
import pytest
from tests.kernel.jobs.probe.looks import WORKER, ask, effects, running_worker, states
from tests.kit.site import wait_until
def test_try(probe_site):
    probe_site.environment |= {"MINARA_JOBS": "celery", "MINARA_BROKER_URL": os.environ["TRY_URL"], "PROBE_QUEUE": "try"}
    w = probe_site.start("worker", PROBE_TIMEOUT_SECONDS="3")
    try:
        wait_until(lambda: probe_site.query("SELECT 1 FROM workers_seen"), 20)
        print("processes", len(probe_site.processes(naming=WORKER)))
        t=time.time(); ask(probe_site, "probe.work_slowly", 20, seconds=0.0)
        wait_until(lambda: states(probe_site, "probe.work_slowly") == {"succeeded": 20}, 30)
        print("20 done", time.time()-t)
        ask(probe_site, "probe.die_once"); ask(probe_site, "probe.wait_once")
        wait_until(lambda: effects(probe_site, "probe.wait_once", "attempted"), 60)
        t=time.time(); os.kill(running_worker(probe_site, "probe.wait_once"), signal.SIGKILL)
        wait_until(lambda: states(probe_site, "probe.wait_once") == {"succeeded":1} and states(probe_site, "probe.die_once") == {"succeeded":1}, 60)
        print("killed and done", time.time()-t)
        ask(probe_site, "probe.work_slowly", seconds=60.0)
        wait_until(lambda: effects(probe_site, "probe.work_slowly", "attempted") >= 22, 60)
        print(probe_site.query("SELECT state,error FROM job_runs where error != ''"))
        t=time.time(); w.terminate(); w.wait(60); print("stopped", w.returncode, time.time()-t, probe_site.processes(naming=WORKER))
    finally:
        w.kill(); print(w.stdout.read()[-6000:])
    print(probe_site.query("SELECT * FROM job_runs where state!='succeeded'"))
