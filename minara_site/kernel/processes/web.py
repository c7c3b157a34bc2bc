"""The web server of `minara up`: granian, WSGI, one blocking thread per worker process (technology: serving).

`python -m minara_site.kernel.processes.web HOST PORT WORKERS`
"""

import sys

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from minara_site.kernel.processes.lifeline import bind_forked_children

STOP_SECONDS = 8


def serve(host: str, port: int, workers: int) -> None:
    """Serve until SIGTERM; a worker that dies is replaced."""
    bind_forked_children()
    Granian(
        "minara_site.wsgi:application",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=workers,
        blocking_threads=1,
        websockets=False,
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        respawn_interval=0.5,
        workers_kill_timeout=STOP_SECONDS,
    ).serve()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
