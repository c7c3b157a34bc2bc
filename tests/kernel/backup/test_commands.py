"""`minara backup` and `minara restore` as people run them: in processes, beside writers, killed."""

import json
import re
import shutil
import stat
import zipfile

import pytest

from tests.kernel.backup.states import files_of, numbers_of, rows_of
from tests.kit.site import Site, wait_until

pytestmark = pytest.mark.processes


@pytest.fixture
def empty(tmp_path):
    """An installation without tables."""
    (tmp_path / "empty").mkdir()
    made = Site(tmp_path / "empty")
    yield made
    made.close()


@pytest.fixture
def other(tmp_path, migrated_site):
    """A second installation with its tables."""
    made = Site(tmp_path / "other", template=migrated_site)
    yield made
    made.close()


def passes(site, *arguments, **options):
    code, output = site.run(*arguments, **options)
    assert code == 0, output
    return output


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def reported(site):
    """Return what the doctor says but for what passes by itself."""
    _code, output = site.run("doctor", MINARA_LOG_LEVEL="ERROR")
    return [line for line in output.splitlines() if not re.search("data folder|megabytes| ago", line)]


@pytest.mark.database
def test_everything_comes_back_into_an_empty_instance_and_in_the_place_of_another(site, empty, tmp_path):
    passes(site, "demo", "load")
    notes = site.folder / "workspace/default/memory"
    (notes / "raw.bin").write_bytes(bytes(range(256)))
    (notes / "link.md").symlink_to("/etc/hostname")
    file = tmp_path / "one.zip"
    assert "Backup written" in passes(site, "backup", str(file))
    assert mode(file) == 0o600
    assert zipfile.ZipFile(file).testzip() is None

    assert "minara doctor" in passes(empty, "restore", str(file))
    rows = rows_of(site)
    assert rows_of(empty) == rows
    files = files_of(empty.folder)
    assert files.pop("workspace/default/memory/raw.bin") == bytes(range(256))
    assert files == {
        name: text
        for name, text in files_of(site.folder).items()
        if name not in {"workspace/default/memory/raw.bin", "workspace/default/memory/link.md"}
    }
    assert {mode(path) for path in empty.folder.rglob("workspace/**/*")} == {0o600, 0o700}
    report = reported(site)
    assert "  ok    audit chain breaks: 0" in report
    assert reported(empty) == report
    passes(empty, "audit-log", "verify")

    passes(empty, "user", "create", "nora", "--password-stdin", typed="correct horse battery\n")  # ids go on
    assert rows_of(empty) != rows
    assert "before-restore-" in passes(empty, "restore", str(file), "--replace", typed="replace\n")
    assert rows_of(empty) == rows
    (kept,) = empty.folder.glob("before-restore-*")
    assert {path.name for path in kept.iterdir()} >= ({"before.zip"} if empty.url else {"minara.db", "queue.db"})


@pytest.mark.database
@pytest.mark.parametrize(("rows", "rounds"), [(2000, 1), pytest.param(150_000, 8, marks=pytest.mark.soak)])
def test_beside_writers_it_holds_what_was_committed_at_one_moment(site, other, tmp_path, rows, rounds):
    site.call("tests.kernel.backup.states:fill", rows)
    for number in range(rounds):
        file, stop = tmp_path / f"{number}.zip", tmp_path / f"stop-{number}"
        names = [f"writer-{number}-{each}" for each in range(2)]
        writers = [site.act("tests.kernel.backup.states:write_pairs", name, str(stop)) for name in names]
        wait_until(lambda names=names: {*names} <= numbers_of(site).keys())
        before = numbers_of(site)
        passes(site, "backup", str(file))
        stop.touch()
        written = {name: int(writer.communicate(timeout=120)[0]) for name, writer in zip(names, writers, strict=True)}
        passes(other, "restore", str(file), "--replace", typed="replace\n")
        found = numbers_of(other)
        for name in names:
            count = len(found[name])
            assert found[name] == [*range(count)]
            assert count % 2 == 0
            assert len(before[name]) <= count < written[name]


def test_a_killed_backup_leaves_none_and_the_next_one_cleans_up(site, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    left = json.loads(site.call("tests.kernel.backup.states:kill_backups", str(folder / "one.zip")))
    assert [status for status, *_names in left] == [-9] * len(left)
    assert {name[:14] for _status, *names in left for name in names} == {".minara-backup"}
    passes(site, "backup", str(folder / "one.zip"))
    assert [path.name for path in folder.iterdir()] == ["one.zip"]


def test_a_killed_restore_leaves_the_old_state_or_the_new_one_which_any_command_finishes(site, tmp_path):
    file = tmp_path / "one.zip"
    (site.folder / "workspace/default").mkdir(parents=True)
    (site.folder / "workspace/default/USER.md").write_text("n")
    (site.folder / "secret_key").write_text("n")
    site.query("INSERT INTO instance_meta (key, value) VALUES ('state', 'n')")
    passes(site, "backup", str(file))
    site.query("DELETE FROM instance_meta WHERE key = 'state'")
    found = json.loads(site.call("tests.kernel.backup.states:kill_restores", str(file)))
    assert found == ["ooo", *["nnn"] * (len(found) - 1)]
    assert len(found) > 8

    shutil.rmtree(site.folder)
    shutil.move(f"{site.folder}-swapping", site.folder)
    assert [*site.folder.glob("restore-*.ready")]
    passes(site, "audit-log", "verify")
    assert not [*site.folder.glob("restore-*")]
    assert site.query("SELECT value FROM instance_meta WHERE key = 'state'") == [("n",)]
    assert files_of(site.folder)["secret_key"] == b"n"
