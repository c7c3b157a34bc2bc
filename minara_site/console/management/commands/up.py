"""`minara up`: everything that a running console needs, under one supervisor (contract: start and set-up)."""

import os
import sys
import time
from argparse import ArgumentTypeError
from http import HTTPStatus
from typing import Any

import structlog
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, InterfaceError
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.setup import issue_setup_link
from minara_site.kernel.command import MinaraCommand
from minara_site.kernel.db import close_connections, is_sqlite
from minara_site.kernel.http import HttpFailed, HttpLimits, request
from minara_site.kernel.instance.services import check_secret_key
from minara_site.kernel.processes.signals import StopRequest
from minara_site.kernel.processes.start import (
    child_environment,
    collect_static_files,
    find_address,
    hold_data_folder,
    migrate_databases,
)
from minara_site.kernel.processes.supervisor import Child, supervise
from profile_app.rebuild.services.run import rebuild_on_boot
from profile_app.workspace.services import sync_all

LOOK_SECONDS, SYNC_SECONDS = 0.2, 60
FUTILE_STARTS = 3
MAX_WORKERS = 64
PROBE = HttpLimits("probe", max_bytes=64 * 1024, uses_proxy=False)
log = structlog.get_logger(__name__)
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where to call a server that listens everywhere


def port_number(text: str) -> int:
    """Read a TCP port."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:  # noqa: PLR2004 - the range of TCP ports
        raise ArgumentTypeError(_("choose a port from 1 to 65535"))
    return int(text)


def worker_count(text: str) -> int:
    """Read how many web worker processes to run."""
    if not text.isdecimal() or not 1 <= int(text) <= MAX_WORKERS:
        raise ArgumentTypeError(_("choose from 1 to %(most)d processes") % {"most": MAX_WORKERS})
    return int(text)


class Command(MinaraCommand):
    """Migrates, collects static files, then runs the web server and the job worker until SIGTERM."""

    help = "Migrate, collect static files, then run the web server and a job worker until stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=port_number, default=8000)
        parser.add_argument("--host", default="127.0.0.1")
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
        workers = max(2, min(8, cores))
        parser.add_argument(
            "--workers",
            type=worker_count,
            default=workers,
            help="web server processes",
        )
        parser.add_argument(
            "--demo",
            action="store_true",
            help="load the demo data first",
        )
        parser.add_argument(
            "--new-secret-key",
            action="store_true",
            help="let this machine's secret key count from now",
        )
        parser.add_argument(
            "--no-worker",
            action="store_true",
            help="run no job worker beside the web server",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare and supervise."""
        stop = StopRequest()
        with hold_data_folder(settings.DATA_DIR):
            address = find_address(options["host"], options["port"])
            migrate_databases()
            check_secret_key(is_new=options["new_secret_key"])
            collect_static_files()
            if options["demo"]:
                call_command("demo", "load")
            rebuild_on_boot(now=timezone.now())
            site = Site(self, address, options["port"])
            site.announce()
            children = [site.web_server(options["workers"])]
            if not options["no_worker"]:
                children.append(site.job_worker())
            close_connections()
            supervise(
                children,
                is_over=lambda: stop.is_asked,
                step=lambda: site.watch(children[0], stop),
            )
            self.stdout.write(_("Stopped."))


class Site:
    """The address of this start, what is said about it, and the children that serve it."""

    def __init__(self, command: BaseCommand, address: str, port: int) -> None:
        self.out = command.stdout
        self.address, self.port = address, port
        self.is_ready = False
        self.sync_at = time.monotonic()
        local = ANY_ADDRESS.get(address, address)
        self.local_url = f"http://[{local}]:{port}" if ":" in local else f"http://{local}:{port}"
        is_named = "minara_public_url" in settings.MINARA.model_fields_set
        self.url = settings.MINARA.minara_public_url if is_named else self.local_url

    @property
    def environment(self) -> dict[str, str]:
        """Return the children's environment: ours, and the address."""
        return child_environment(MINARA_PUBLIC_URL=self.url)

    def web_server(self, workers: int) -> Child:
        module = "minara_site.kernel.processes.web"
        command = (
            sys.executable,
            "-m",
            module,
            self.address,
            str(self.port),
            str(workers),
        )
        return Child("web", command, self.environment)

    def job_worker(self) -> Child:
        return Child(
            "worker",
            (sys.executable, "-m", "django", "worker", "--skip-checks"),
            self.environment,
        )

    def announce(self) -> None:
        """Say where the data are, and on the first start how to become the operator."""
        self.out.write(_("Data folder: %(folder)s") % {"folder": settings.DATA_DIR})
        if self.address in ANY_ADDRESS and self.url == self.local_url:
            self.out.write(_("Other machines are refused until MINARA_PUBLIC_URL or MINARA_ALLOWED_HOSTS names them."))
        token = issue_setup_link(now=timezone.now())
        if token:
            url = f"{self.url}/welcome/{token}/"
            self.out.write(_("Become the operator through this link, once: %(url)s") % {"url": url})
        self.out.flush()

    def watch(self, web: Child, stop: StopRequest) -> None:
        """Say once that the console answers; give up when the web server never starts."""
        if not self.is_ready and self.answers():
            self.is_ready = True
            self.out.write(_("Ready: %(url)s (stop with Ctrl+C)") % {"url": self.url})
            self.out.flush()
        if not self.is_ready and web.deaths >= FUTILE_STARTS:
            raise CommandError(_("The web server does not start; the lines above say why."))
        if not is_sqlite() and time.monotonic() >= self.sync_at:
            self.sync_folders()
        stop.wait(LOOK_SECONDS)

    def sync_folders(self) -> None:
        """Bring the folders of agent files of this machine in step; where it is the only one, a job does."""
        try:
            sync_all(now=timezone.now())
        except (DatabaseError, InterfaceError) as error:
            log.warning("folders_not_read", error=type(error).__name__)
        finally:
            close_connections()
        self.sync_at = time.monotonic() + SYNC_SECONDS

    def answers(self) -> bool:
        """Ask /healthz once."""
        headers = {"Host": "localhost"}
        try:
            answer = request(
                "GET",
                f"{self.local_url}/healthz",
                limits=PROBE,
                seconds=2,
                headers=headers,
            )
        except HttpFailed:
            return False
        return answer.status == HTTPStatus.OK
