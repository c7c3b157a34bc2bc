"""Make a backup of this instance, and restore one."""

import os
import shutil
import sqlite3
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils.translation import gettext as _

from minara_site.kernel.audit_log.services import record_audit
from minara_site.kernel.backup.archive import BLOCK, Backup, Manifest, Writer, write_archive
from minara_site.kernel.backup.postgresql import dump_tables, load_tables, refuse_connected
from minara_site.kernel.backup.selectors import MADE, RESTORED
from minara_site.kernel.backup.sqlite import copy_database, refuse_open
from minara_site.kernel.backup.swap import PART, READY, finish_restore, kept_at
from minara_site.kernel.db import is_sqlite
from minara_site.kernel.errors import Conflict, Refused
from minara_site.kernel.host import read_versions
from minara_site.kernel.instance.services import get_instance_id
from minara_site.kernel.processes.start import migrate_databases

WORK = ".minara-backup-"
WORKSPACE, SECRET_KEY, TABLES = "workspace", "secret_key", "tables"
FILES = {"queue": "queue.db", DEFAULT_DB_ALIAS: "minara.db"}
STAMP = "%Y%m%dT%H%M%SZ"


def make_backup(
    path: Path,
    *,
    now: datetime,
    actor: str,
    replaces: bool = False,
) -> int:
    """Write this instance into a file for this user alone; return its bytes. A failure or a kill leaves no such file.

    Raises Conflict for a file that is there unless it `replaces` it, and Refused when it cannot be written.
    """
    path = path.absolute()
    if path.exists() and not replaces:
        raise Conflict(_("%(file)s is there already. Name another file, or add --replace.") % {"file": path})
    if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(settings.DATA_DIR / WORKSPACE)):
        raise Refused(_("%(file)s could be read by agents. Choose a folder outside the workspaces.") % {"file": path})
    try:
        for left in path.parent.glob(f"{WORK}*"):  # by a killed one; of two at once the later one goes on
            shutil.rmtree(left)
        with TemporaryDirectory(prefix=WORK, dir=path.parent) as folder:
            whole = Path(folder, "whole")
            seal = write_archive(
                whole,
                lambda writer: fill(writer, Path(folder), now=now),
            )
            size = whole.stat().st_size
            whole.replace(path)
            fd = os.open(path.parent, os.O_RDONLY)
            os.fsync(fd)
            os.close(fd)
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or str(error)
        sentence = _("No backup was written to %(folder)s: %(why)s. Make room or name another folder, then try again.")
        raise Refused(sentence % {"folder": path.parent, "why": why}) from error
    record_audit(
        now=now,
        actor=actor,
        tool_call=MADE,
        details={"file": str(path), "bytes": size, "sha256": seal},
    )
    return size


def fill(writer: Writer, folder: Path, *, now: datetime) -> Manifest:
    """Write the databases, the secret key of the data folder and the workspaces; return the manifest.

    The main database is the truth and comes last: a run that the queue's copy names is in it.
    """
    instance, data = get_instance_id(), Path(settings.DATA_DIR)
    if is_sqlite():
        for alias, name in FILES.items():
            tables = copy_database(
                Path(connections[alias].settings_dict["NAME"]),
                folder / name,
            )
            writer.add_file(name, folder / name)
            (folder / name).unlink()
    else:
        tables = dump_tables(writer)
    if not settings.MINARA.minara_secret_key:
        writer.add_file(SECRET_KEY, data / SECRET_KEY)
    for parent, _folders, names in os.walk(data / WORKSPACE, onerror=raise_unless_gone):
        for file in (Path(parent, name) for name in names):
            if file.is_file() and not file.is_symlink():
                add_workspace_file(writer, data, file)
    facts: dict[str, Any] = {
        "engine": connections[DEFAULT_DB_ALIAS].vendor,
        "instance": instance,
        **tables,
    }
    return Manifest(minara=read_versions().minara, created_at=now, **facts)


def raise_unless_gone(error: OSError) -> None:
    """Raise for a folder that cannot be read."""
    if not isinstance(error, FileNotFoundError):
        raise error


def add_workspace_file(writer: Writer, data: Path, file: Path) -> None:
    """Write a file unless it is gone meanwhile. Raises Refused for a name that is no text, OSError naming the file."""
    name = str(file.relative_to(data))
    if os.fsencode(name) != name.encode(errors="replace"):
        raise Refused(_("The name of %(file)s is not UTF-8. Rename it, then try again.") % {"file": ascii(str(file))})
    with suppress(FileNotFoundError):
        writer.add_file(name, file)


def check_fits(manifest: Manifest) -> None:
    """Raise Refused for a backup of another engine or another version than this one."""
    ours, engine = MigrationLoader(None), connections[DEFAULT_DB_ALIAS].vendor
    has_same_tables = ours.graph.nodes.keys() <= {*manifest.migrations} <= ours.disk_migrations.keys()
    if manifest.engine != engine or not has_same_tables:
        other = _("The backup is of Minara %(version)s on %(engine)s. Restore it with both of these, then change them.")
        raise Refused(other % {"version": manifest.minara, "engine": manifest.engine})


def is_filled() -> bool:
    """Say whether this instance holds anything that a restore would replace."""
    main = connections[DEFAULT_DB_ALIAS]
    has_tables = Path(main.settings_dict["NAME"]).exists if is_sqlite() else main.introspection.table_names
    return bool(has_tables()) or any(Path(settings.DATA_DIR).glob(f"{WORKSPACE}/*"))


def restore_backup(backup: Backup, *, now: datetime, replaces: bool) -> Path | None:
    """Put a backup that fits in the place of this instance; return the folder of what was there, if anything was.

    Hold the data folder. A kill leaves the old state, or the new one once it is decided (see `swap`). On PostgreSQL all
    rows come in one transaction, and the files right after it: a kill between the two leaves the old secret key and
    workspaces beside the new rows, and the same restore once more brings them.
    """
    data = Path(settings.DATA_DIR)
    for left in data.glob(f"restore-*{PART}"):
        shutil.rmtree(left)
    part = data / f"restore-{now:{STAMP}}{PART}"
    (part / WORKSPACE).mkdir(mode=0o700, parents=True)
    try:
        unpack(backup, part)
        if is_sqlite():
            connections.close_all()
            for name in FILES.values():
                refuse_open(data / name)
        else:
            refuse_connected()
            if replaces:
                kept_at(part).mkdir(mode=0o700)
                make_backup(
                    kept_at(part) / "before.zip",
                    now=now,
                    actor="command:restore",
                )
            migrate_databases()
            with transaction.atomic():
                load_tables(backup)
        if not replaces:
            (data / SECRET_KEY).unlink(missing_ok=True)  # it has signed nothing
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    part.rename(part.with_suffix(READY))
    os.sync()
    finish_restore(data)
    details = {
        "made_at": backup.manifest.created_at.isoformat(),
        "instance": backup.manifest.instance,
    }
    record_audit(
        now=now,
        actor="command:restore",
        tool_call=RESTORED,
        details=details,
    )
    return kept_at(part) if kept_at(part).exists() else None


def unpack(backup: Backup, folder: Path) -> None:
    """Write the files of a backup below a folder, down to the disk."""
    for name in backup.manifest.members:
        if name.startswith(f"{TABLES}/"):
            continue
        path = folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "wb") as stream, backup.archive.open(name) as packed:
            shutil.copyfileobj(packed, stream, BLOCK)
    os.sync()
