"""The web server of `minara up`: granian, ASGI, one thread for answers in each process (technology: serving).

`python -m minara_site.kernel.processes.web HOST PORT WORKERS`
"""

import resource
import sys

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from minara_site.kernel.processes.lifeline import bind_forked_children

STOP_SECONDS = 8
IDLE_SECONDS = 75  # a kept connection, and a header until it is whole; longer than pools of clients keep one
MAX_CONNECTIONS = 4096  # of one process
FILES_BESIDE = 256


def serve(host: str, port: int, workers: int) -> None:
    """Serve until SIGTERM; a worker that dies is replaced."""
    bind_forked_children()
    Granian(
        "minara_site.wsgi:served",
        address=host,
        port=port,
        interface=Interfaces.ASGINL,
        workers=workers,
        websockets=False,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=IDLE_SECONDS * 1000),
        backlog=MAX_CONNECTIONS // 2,
        backpressure=min(MAX_CONNECTIONS, raise_file_limit() - FILES_BESIDE),
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        respawn_interval=0.5,
        workers_kill_timeout=STOP_SECONDS,
    ).serve()


def raise_file_limit() -> int:
    """Let this process and its children open as many files as the system lets them; return how many."""
    _now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + FILES_BESIDE if most == resource.RLIM_INFINITY else most
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    return wanted


if __name__ == "__main__":
    serve(
        sys.argv[1],
        int(sys.argv[2]),
        int(sys.argv[3]),
    )
