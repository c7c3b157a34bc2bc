"""The project's settings and the probe."""

import os

from minara_site.settings import *  # noqa: F403
from minara_site.settings import INSTALLED_APPS, Q_CLUSTER

INSTALLED_APPS = [*INSTALLED_APPS, "tests.kernel.jobs.probe.apps.ProbeConfig"]
Q_CLUSTER = {
    **Q_CLUSTER,
    "name": os.environ.get("PROBE_QUEUE", Q_CLUSTER["name"]),
    "poll": 0.1,
    "workers": int(os.environ.get("PROBE_WORKERS", "1")),
    "timeout": int(os.environ.get("PROBE_TIMEOUT_SECONDS", Q_CLUSTER["timeout"])),
    "retry": int(os.environ.get("PROBE_RETRY_SECONDS", Q_CLUSTER["retry"])),
}
