"""What is refused, what a full disk leaves, and what the schedule keeps."""

import io
import os
import resource
import sqlite3
import zipfile
from contextlib import closing, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.backup.archive import MANIFEST, SEAL_CHARS, open_backup, write_archive
from minara_site.kernel.backup.selectors import load_last_backup
from minara_site.kernel.backup.services import check_fits, make_backup
from minara_site.kernel.backup.sqlite import refuse_open
from minara_site.kernel.backup.tasks import make
from minara_site.kernel.errors import Conflict, MinaraError, Refused
from minara_site.kernel.instance.services import get_instance_id
from minara_site.kernel.processes.start import hold_data_folder

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def data(tmp_path, settings):
    """A data folder with a key and a workspace."""
    settings.DATA_DIR = tmp_path / "data"
    (settings.DATA_DIR / "workspace/default").mkdir(parents=True)
    (settings.DATA_DIR / "workspace/default/USER.md").write_text("I hold ETH")
    (settings.DATA_DIR / "secret_key").write_text("secret")
    return settings.DATA_DIR


@pytest.fixture
def file(data, tmp_path, now):
    """A backup."""
    make_backup(tmp_path / "one.zip", now=now, actor="test")
    return tmp_path / "one.zip"


def refusal(act, *arguments, **options):
    try:
        act(*arguments, **options)
    except (MinaraError, CommandError) as error:
        return str(error)
    return "nothing was refused"


def proof(path):
    with open_backup(path) as backup:
        return backup


def test_a_file_that_is_not_whole_is_refused_wherever_it_was_changed_or_cut(file, tmp_path):
    whole, bad, faults = file.read_bytes(), tmp_path / "bad.zip", []
    proof(file)
    with zipfile.ZipFile(file) as archive:
        places = [
            info.header_offset + extra for info in archive.infolist() for extra in (0, 30, 30 + info.compress_size // 2)
        ]
    places += [len(whole) - SEAL_CHARS - 40, len(whole) - SEAL_CHARS - 1, len(whole) - 1]
    table = {f"byte {at}": whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in places}
    table |= {f"cut at {at}": whole[:at] for at in (0, 1, len(whole) // 2, len(whole) - SEAL_CHARS, len(whole) - 1)}
    table |= {"longer": whole + b"x", "other": b"PK\x03\x04" + b"x" * 9000}
    for name, content in table.items():
        bad.write_bytes(content)
        if not any(words in refusal(proof, bad) for words in ("damaged", "cut off", "another Minara")):
            faults.append(name)
    assert faults == []
    assert "cannot be read" in refusal(proof, tmp_path / "missing.zip")


def test_what_is_whole_and_does_not_fit_is_refused(file, tmp_path):
    manifest = proof(file).manifest
    check_fits(manifest)
    last = manifest.migrations[-1]
    newer, older = [*manifest.migrations, ("kernel", "9999_newer")], manifest.migrations[:-1]
    assert last not in older
    for update, words in (
        ({"engine": "oracle"}, "on oracle"),
        ({"migrations": newer}, "The backup is of Minara"),
        ({"migrations": older}, "The backup is of Minara"),
    ):
        assert words in refusal(check_fits, manifest.model_copy(update=update))

    def fill(writer, name):
        writer.add(name, [b"x"])
        return manifest

    for number, name in enumerate(["../outside", "workspace/../../outside", "/tmp/outside", "//tmp/outside"]):
        write_archive(tmp_path / f"{number}.zip", partial(fill, name=name))
        assert "does not hold what its list says" in refusal(proof, tmp_path / f"{number}.zip"), name


def test_the_command_asks_for_a_typed_word_and_refuses_a_running_instance(data, file, monkeypatch):
    assert "add --replace" in refusal(call_command, "restore", file)
    for typed in ("", "yes\n", "Replace\n"):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        assert refusal(call_command, "restore", file, "--replace", stdout=io.StringIO()) == "Nothing was changed."
    with hold_data_folder(data):
        assert "Another `minara up`" in refusal(call_command, "restore", file, "--replace")
    assert {path.name for path in data.iterdir()} == {"secret_key", "workspace", "up.lock"}


def test_a_database_that_another_process_has_open_is_not_replaced(tmp_path):
    path = tmp_path / "minara.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE t (n)")
        with pytest.raises(Conflict, match="Stop every Minara"):
            refuse_open(path)
    refuse_open(path)
    assert [each.name for each in tmp_path.iterdir()] == ["minara.db"]
    path.write_bytes(b"damaged" * 1000)
    refuse_open(path)


@contextmanager
def files_of_at_most(size):
    """Let no file of this process grow beyond this, as on a disk without room."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


def test_a_disk_without_room_leaves_nothing_and_says_so(data, tmp_path, now):
    folder = tmp_path / "backups"
    folder.mkdir()
    get_instance_id()
    for size in (0, 5000):
        with files_of_at_most(size):
            said = refusal(make_backup, folder / "one.zip", now=now, actor="test")
        assert "No backup was written to" in said, size
        assert "Make room" in said
        assert [*folder.iterdir()] == []
    assert not AuditEntry.objects.filter(tool_call="backup.made").exists()


def test_a_file_that_is_there_is_kept_unless_it_is_to_be_replaced_and_agents_read_none(file, data, now):
    with pytest.raises(Conflict, match="--replace"):
        make_backup(file, now=now, actor="test")
    make_backup(file, now=now, actor="test", replaces=True)
    odd = os.fsencode(data / "workspace/default") + b"/caf\xe9.md"
    Path(os.fsdecode(odd)).touch()
    with pytest.raises(Refused, match=r"caf\\udce9.md' is not UTF-8"):
        make_backup(file, now=now, actor="test", replaces=True)
    with pytest.raises(Refused, match="read by agents"):
        make_backup(data / "workspace/default/one.zip", now=now, actor="test")


def test_a_key_of_the_environment_stays_out(data, settings, tmp_path, now):
    settings.MINARA = settings.MINARA.model_copy(update={"minara_secret_key": "of the environment"})
    make_backup(tmp_path / "one.zip", now=now, actor="test")
    assert "secret_key" not in proof(tmp_path / "one.zip").manifest.members


def test_the_schedule_keeps_the_newest_and_no_other_file_goes(data, settings, tmp_path, now):
    folder = tmp_path / "backups"
    folder.mkdir()
    settings.MINARA = settings.MINARA.model_copy(update={"minara_backup_dir": folder, "minara_backups_kept": 2})
    others = {"minara-20200101T000000Z.zip": b"cut off", "notes.zip": b"mine", "minara-old.zip": b"mine"}
    for name, content in others.items():
        (folder / name).write_bytes(content)
    theirs = folder / "minara-20210101T000000Z.zip"
    make_backup(theirs, now=now, actor="test")  # not of that moment
    damaged = bytearray(theirs.read_bytes())
    with zipfile.ZipFile(theirs) as archive:
        damaged[archive.getinfo(MANIFEST).header_offset + 30 + len(MANIFEST)] = 0xFF  # no block of zlib begins so
    others["minara-20220101T000000Z.zip"] = bytes(damaged)
    (folder / "minara-20220101T000000Z.zip").write_bytes(damaged)
    deleted = [make(now=now + timedelta(days=day))["deleted"] for day in range(4)]
    assert deleted == [0, 0, 1, 1]
    kept = {f"minara-{now + timedelta(days=day):%Y%m%dT%H%M%SZ}.zip" for day in (2, 3)}
    assert {path.name for path in folder.iterdir()} == {*others, theirs.name, *kept}
    last = load_last_backup(now=now)
    assert (last.made_at, last.size) == (now + timedelta(days=3), (folder / max(kept)).stat().st_size)

    settings.MINARA = settings.MINARA.model_copy(update={"minara_backup_dir": tmp_path / "gone"})
    assert "No backup was written to" in refusal(make, now=now)
    settings.MINARA = settings.MINARA.model_copy(update={"minara_backup_dir": None})
    assert make(now=now) is None
    assert connection.vendor == proof(folder / max(kept)).manifest.engine
