"""A zip of a workspace as people pack it: what is read of it, what is left alone, and what is refused before any write."""

import stat
import zipfile
from pathlib import Path

import pytest

from memory_app.bundle.adapters import BundleRefused
from memory_app.bundle.adapters.workspaces import write_workspace
from tests.kit.shared import corpus
from tests.kit.tables import table
from tests.memory_app.bundle.hostile_zips import Build, encrypted_member, no_file, wrong_checksum


def pack(folder: Path, build: Build) -> Path:
    """Return a zip file with a note and what `build` adds."""
    path = folder / "upload.bin"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("MEMORY.md", "- now")
        build(archive)
    return path


def unpack(folder: Path, path: Path) -> tuple[dict[str, str], int]:
    """Return what is laid out, and how many files were left alone."""
    bench = folder / "bench"
    bench.mkdir()
    left = write_workspace(path, "w.zip", bench, is_zip=True)
    return {str(each.relative_to(bench)): each.read_text() for each in bench.rglob("*.md")}, left


def laid_out(folder: Path, *names: str) -> tuple[dict[str, str], int]:
    """Return what is laid out of a zip whose files hold their own names."""
    path = folder / "upload.bin"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return unpack(folder, path)


@table(
    ("names", "expected"),
    [
        (["MEMORY.md", "Archive/MEMORY.md", "Archive/USER.md"], {"MEMORY.md": "MEMORY.md"}),
        (["Archive/MEMORY.md", "MEMORY.md", "backup/memory/2026-01-01.md"], {"MEMORY.md": "MEMORY.md"}),
        (["ws/2024-backup/MEMORY.md", "ws/MEMORY.md"], {"MEMORY.md": "ws/MEMORY.md"}),
        (["b/USER.md", "a/MEMORY.md"], {"MEMORY.md": "a/MEMORY.md"}),
        (
            ["ws/memory/2026-01-01.md", "ws/memory/old/2025-01-01.md", "ws/old/MEMORY.md"],
            {"memory/2026-01-01.md": "ws/memory/2026-01-01.md"},
        ),
        (["memory/main.sqlite", "workspace/MEMORY.md"], {"MEMORY.md": "workspace/MEMORY.md"}),
        (["2026-01-01.md", "ws/MEMORY.md"], {"MEMORY.md": "ws/MEMORY.md"}),
        (["2026-01-01.md", "mymemory/2026-01-02.md"], {"memory/2026-01-01.md": "2026-01-01.md"}),
        (["我的记忆 (1)/USER.md", ".trash/MEMORY.md"], {"USER.md": "我的记忆 (1)/USER.md"}),
        (["SOUL.md"], {}),
    ],
)
def test_reads_the_shallowest_workspace_alone(tmp_path: Path, names: list[str], expected: dict[str, str]) -> None:
    assert laid_out(tmp_path, *names)[0] == expected


def test_counts_what_it_leaves_alone_but_not_what_desktops_leave_behind(tmp_path: Path) -> None:
    names = ["MEMORY.md", "SOUL.md", "Archive/", "Archive/MEMORY.md", ".DS_Store", "__MACOSX/._MEMORY.md"]
    assert laid_out(tmp_path, *names) == ({"MEMORY.md": "MEMORY.md"}, 2)


@table(
    "name",
    [
        "研究.md",
        "report (1).pdf",
        "data/prices.csv.gz",
        "at 10:30.txt",
        "aux.md",
        "memory.md",
        "node_modules/" * 20 + "x.js",
        "a" * 250,
    ],
)
def test_what_is_not_read_may_have_any_name(tmp_path: Path, name: str) -> None:
    assert laid_out(tmp_path, "MEMORY.md", name) == ({"MEMORY.md": "MEMORY.md"}, 1)


def one(name: str) -> Build:
    return lambda archive: archive.writestr(name, b"x")


def twice(*names: str) -> Build:
    return lambda archive: [archive.writestr(name, b"x") for name in names]


HOSTILE: dict[str, tuple[Build, str]] = {
    "parent": (one("../../evil.md"), "name"),
    "parent inside": (one("a/../../MEMORY.md"), "name"),
    "absolute": (one("/etc/cron.d/MEMORY.md"), "name"),
    "backslash": (one("..\\evil.md"), "name"),
    "drive": (one("C:evil.md"), "name"),
    "hidden parent": (one(".git/../../x"), "name"),
    "itself": (one("./MEMORY.md"), "name"),
    "link": (no_file("link", stat.S_IFLNK), "link"),
    "pipe": (no_file("link", stat.S_IFIFO), "no_file"),
    "note twice": (twice("MEMORY.md"), "twice"),
    "other twice": (twice("x.txt", "x.txt"), "twice"),
    "note twice in capitals": (twice("memory/2026-01-01-a.md", "memory/2026-01-01-A.md"), "twice"),
    "note with a name that no export gives": (twice("memory/2026-01-01-研究.md"), "name"),
    "10,001": (twice(*(f"{number}.txt" for number in range(10_000))), "too_much_packed"),
    "ratio": (lambda archive: archive.writestr("x.csv", b"0" * 2_000_000), "ratio"),
    "encrypted": (encrypted_member, "encrypted"),
    "checksum": (wrong_checksum, "damaged"),
    "method": (lambda archive: archive.writestr("x.csv", b"x", compress_type=zipfile.ZIP_LZMA), "method"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@table("kind", list(HOSTILE))
def test_a_hostile_member_is_refused_before_any_write(tmp_path: Path, kind: str) -> None:
    build, why = HOSTILE[kind]
    with pytest.raises(BundleRefused) as refusal:
        unpack(tmp_path, pack(tmp_path, build))
    assert refusal.value.problem_code == f"bundle_{why}"
    assert not list((tmp_path / "bench").iterdir())


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_list_of_members_that_lies_about_its_length_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path, twice(*(f"{number}.txt" for number in range(10_000))))
    raw = bytearray(path.read_bytes())
    end = raw.rfind(b"PK\5\6")
    raw[end + 8 : end + 12] = (1).to_bytes(2, "little") * 2
    path.write_bytes(raw)
    with pytest.raises(BundleRefused) as refusal:
        unpack(tmp_path, path)
    assert refusal.value.problem_code == "bundle_too_many"


def test_no_member_of_the_corpus_is_read_or_written(tmp_path: Path) -> None:
    for number, row in enumerate(corpus("import_bundles")):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            assert unpack(folder, pack(folder, one(row["name"]))) == ({"MEMORY.md": "- now"}, 1)
        except BundleRefused:
            assert row["expect"] == "reject_path", row
        assert {path.name for path in folder.iterdir()} == {"upload.bin", "bench"}
    assert all(path.name.isdigit() for path in tmp_path.iterdir())
