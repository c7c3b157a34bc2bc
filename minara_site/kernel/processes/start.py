"""What has to hold before the children of `minara up` start. Each raises CommandError with one line that helps."""

import errno
import fcntl
import hashlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.management import CommandError, call_command
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.utils.translation import gettext as _

from minara_site.kernel.db import alone_on_server

UNUSED_FILES = ["ninja/redoc*"]  # the API's pages are the other renderer's
MOVE_TABLE = "minara_move"  # in the database for as long as a move into it has not ended


@contextmanager
def hold_data_folder(folder: Path) -> Iterator[None]:
    """Hold the folder's lock during the block; the kernel frees it should this process be killed."""
    path = folder / "up.lock"
    try:
        lock = path.open("a+")
    except OSError as error:
        raise CommandError(
            _("The data folder %(folder)s cannot be written: %(reason)s. Mend it or set MINARA_DATA_DIR.")
            % {"folder": folder, "reason": error.strerror}
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise CommandError(
                _("Another `minara up` (process %(pid)s) runs on %(folder)s. Stop it, or set MINARA_DATA_DIR.")
                % {"pid": lock.read().strip() or "?", "folder": folder}
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def find_address(host: str, port: int) -> str:
    """Return the IP address to listen on, after a trial."""
    try:
        family, kind, protocol, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError as error:
        raise CommandError(explain_address(host, port, error)) from None
    return str(address[0])


def explain_address(host: str, port: int, error: OSError) -> str:
    """Say why nobody can listen there, and what to do."""
    facts = {"host": host, "port": port, "reason": error.strerror}
    if error.errno == errno.EADDRINUSE:
        return _("Port %(port)s on %(host)s is taken. Stop what uses it, or choose another with --port.") % facts
    if error.errno == errno.EACCES:
        return _("Port %(port)s needs rights that you do not have. Choose one above 1023 with --port.") % facts
    return _("Cannot listen on %(host)s, port %(port)s: %(reason)s. Choose others with --host and --port.") % facts


def migrate_databases() -> None:
    """Bring every database to this version's tables."""
    for alias in connections:
        try:
            refuse_half_moved()
            with alone_on_server():
                call_command("migrate", database=alias, interactive=False, verbosity=0)
        except DatabaseError as error:
            reason = str(error).strip().partition("\n")[0]
            raise CommandError(
                _("The database cannot be used: %(reason)s. Check the data folder, or DATABASE_URL and the server.")
                % {"reason": reason}
            ) from None


def refuse_half_moved() -> None:
    """Raise CommandError for a database that holds a part of what is moved to it."""
    if MOVE_TABLE in connections[DEFAULT_DB_ALIAS].introspection.table_names():
        raise CommandError(
            _("A move to this database has not ended. Start `minara move-to-postgres` again: it continues.")
        )


def collect_static_files() -> None:
    """Copy, compress and name the static files by their content; compressing takes seconds, so only after a change."""
    stamp = Path(settings.STATIC_ROOT) / ".collected"
    wanted = fingerprint_static_files()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    call_command(
        "collectstatic",
        interactive=False,
        clear=True,
        ignore_patterns=UNUSED_FILES,
        verbosity=0,
    )
    stamp.write_text(wanted)


def fingerprint_static_files() -> str:
    """Return a hash over the path, size and time of every source file."""
    digest = hashlib.sha256()
    for finder in finders.get_finders():
        for path, storage in finder.list(UNUSED_FILES):
            facts = Path(storage.path(path)).stat()
            digest.update(f"{path} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def child_environment(**named: str) -> dict[str, str]:
    """Return the environment of a child process: ours, the named variables, and where the code lies."""
    path = os.pathsep.join(
        filter(
            None,
            (str(settings.BASE_DIR), os.environ.get("PYTHONPATH")),
        )
    )
    return {**os.environ, **named, "PYTHONPATH": path}
