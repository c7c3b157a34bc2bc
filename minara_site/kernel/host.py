"""What this process runs on: versions, the size of the database, room on the disk, the process itself.

Nothing here reads a table. A figure that an engine or a system does not give is None.
"""

import platform
import resource
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import django
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from minara_site.kernel.db import is_sqlite

KILOBYTE = 1024
MEGABYTE = 1024 * KILOBYTE
FEW = 100 * MEGABYTE
MANY = 2048 * MEGABYTE


@dataclass(frozen=True, slots=True)
class Versions:
    """Which version of what runs."""

    minara: str
    python: str
    django: str
    database: str


@dataclass(frozen=True, slots=True)
class Storage:
    """How many bytes the database takes, of them the write-ahead log, and what the disk of the data folder has."""

    database: int | None
    write_ahead_log: int | None
    queue: int | None
    disk_free: int
    disk_total: int

    @property
    def is_little(self) -> bool:
        """Whether room is to be made: less than a tenth of the disk is free, and less than 2 GiB."""
        return self.disk_free < min(self.disk_total // 10, MANY)

    @property
    def is_ending(self) -> bool:
        """Whether writes are about to fail: less than 100 MiB is free, or a hundredth of a small disk."""
        return self.disk_free < min(self.disk_total // 100, FEW)


def read_versions() -> Versions:
    """Return the versions; a bare checkout of Minara has none."""
    try:
        minara = version("minara")
    except PackageNotFoundError:
        minara = "unknown"
    connection = connections[DEFAULT_DB_ALIAS]
    connection.ensure_connection()
    number = ".".join(str(part) for part in connection.get_database_version())
    return Versions(
        minara,
        platform.python_version(),
        django.get_version(),
        f"{connection.display_name} {number}",
    )


def read_storage() -> Storage:
    """Return what is stored where. On PostgreSQL one statement that reads no table."""
    disk = shutil.disk_usage(settings.DATA_DIR)
    if not is_sqlite():
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            return Storage(
                int(cursor.fetchone()[0]),
                None,
                None,
                disk.free,
                disk.total,
            )
    main, queue = (Path(connections[alias].settings_dict["NAME"]) for alias in (DEFAULT_DB_ALIAS, "queue"))
    log = size_of(main.with_name(f"{main.name}-wal")) or 0
    return Storage(
        (size_of(main) or 0) + log,
        log,
        size_of(queue),
        disk.free,
        disk.total,
    )


def size_of(path: Path) -> int | None:
    """Return the bytes of a file, None without one."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def peak_memory() -> int:
    """Return the most bytes of memory that this process has held."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * KILOBYTE


def processor_seconds() -> float:
    """Return the seconds of processor time that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
