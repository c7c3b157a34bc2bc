"""W-17 and the corpus: what no export writes is refused before anything is read or written."""

import os
import random
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from memory_app.bundle.adapters import BundleRefused, read_bundle
from memory_app.bundle.adapters.archive import is_uploadable
from memory_app.bundle.adapters.bundles import MIB
from memory_app.bundle.core.plan import Verdict
from memory_app.memories.models import Memory
from minara_site.kernel.errors import NotFound
from tests.kit.shared import corpus
from tests.kit.tables import table
from tests.memory_app.bundle.hostile_zips import Build, encrypted_member, no_file, wrong_checksum
from tests.memory_app.bundle.trees import bring, hash_of_database, in_memory, look, memory_file
from tests.memory_app.bundle.wizard import packed

GOOD = {"memories/observation/1.md": memory_file()}


@pytest.fixture(autouse=True)
def nothing_around_it_is_touched(tmp_path: Path) -> Iterator[None]:
    """Fail when a test leaves a file beside the folder of its bundle."""
    yield
    folders = (tmp_path, *tmp_path.glob("row*"))
    found = {path.name for folder in folders for path in folder.iterdir() if path not in folders}
    assert found <= {"inside"}


def bundle_in(tmp_path: Path) -> Path:
    """Return where the bundle of a test lies."""
    (tmp_path / "inside").mkdir(exist_ok=True)
    return tmp_path / "inside" / "bundle.zip"


def refused(path: Path) -> str:
    """Return why a bundle is refused."""
    with pytest.raises(BundleRefused) as refusal:
        read_bundle(path)
    return refusal.value.problem_code


def pack(folder: Path, build: Build) -> Path:
    """Return a zip file that `build` filled beside a good member."""
    path = bundle_in(folder)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in GOOD.items():
            archive.writestr(name, content)
        build(archive)
    return path


@table(
    ("why", "names"),
    [
        (
            "name",
            [
                "../evil.md",
                "memories/../../evil.md",
                "/etc/cron.d/x.md",
                "C:\\x.md",
                "\\\\srv\\x.md",
                "memories\\..\\x.md",
                "./memories/x.md",
                "memories//x.md",
                "memories/./x.md",
                "memories/x.md ",
                "memories/x.",
                "memories/止损.md",
                "memories/x\n.md",
                "memories/x\x1b[2J.md",
                "memories/\u202egpj.md",
                "signature.txt/../signature.txt",
                "~/x.md",
                "memories/$HOME.md",
            ],
        ),
        ("device", ["CON.md", "memories/aux", "memories/NUL.txt.md", "lpt1.md", "memories/com9/x.md"]),
        ("too_long", ["a" * 250 + ".md"]),
        ("too_deep_a_folder", ["a/" * 7 + "x.md"]),
        ("archive", ["x.zip", "a/y.TGZ"]),
        ("twice", [*GOOD, "Memories/observation/1.md", "memories/observation/1.MD", "memories/observation"]),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_no_export_gives_is_refused(tmp_path: Path, why: str, names: list[str]) -> None:
    for name in names:
        assert refused(pack(tmp_path, lambda archive, name=name: archive.writestr(name, b"x"))) == f"bundle_{why}", name


def member(content: bytes, method: int | None = None) -> Build:
    return lambda archive: archive.writestr("memories/lesson/x.md", content, compress_type=method)


@table(
    ("build", "why"),
    [
        (no_file("memories/x.md", stat.S_IFLNK), "link"),
        (no_file("memories/x.md", stat.S_IFIFO), "no_file"),
        (no_file("memories/x.md", stat.S_IFCHR), "no_file"),
        (encrypted_member, "encrypted"),
        (wrong_checksum, "damaged"),
        (member(b"x", zipfile.ZIP_BZIP2), "method"),
        (member(b"x", zipfile.ZIP_LZMA), "method"),
        (member(b"0" * 2_000_000), "ratio"),
    ],
)
def test_a_member_that_no_export_writes_is_refused(tmp_path: Path, build: Build, why: str) -> None:
    assert refused(pack(tmp_path, build)) == f"bundle_{why}"


def test_ten_thousand_and_one_members_are_refused_and_ten_thousand_are_not(tmp_path: Path) -> None:
    def fill(count: int) -> Path:
        return pack(
            tmp_path,
            lambda archive: [archive.writestr(f"memories/lesson/{n}.md", b"") for n in range(count)],
        )

    too_many = fill(10_000)
    assert refused(too_many) == "bundle_too_much_packed"
    assert not is_uploadable(too_many)
    assert len(read_bundle(fill(9_999)).names) == 10_000


def test_a_list_of_members_that_lies_about_its_length_is_refused(tmp_path: Path) -> None:
    def many(archive: zipfile.ZipFile) -> None:
        for number in range(9_000):
            archive.writestr(zipfile.ZipInfo(f"{number:06d}" * 80), b"")

    path = pack(tmp_path, many)
    raw = bytearray(path.read_bytes())
    end = raw.rfind(b"PK\5\6")
    raw[end + 8 : end + 12] = (1).to_bytes(2, "little") * 2
    path.write_bytes(raw)
    assert refused(path) == "bundle_too_much_packed"


def test_one_statement_repeated_is_no_bomb(tmp_path: Path) -> None:
    path = pack(tmp_path, lambda archive: archive.writestr("memories/lesson/x.md", memory_file("x" * 4000)))
    assert len(read_bundle(path).names) == 2


@table(("size", "why"), [(33 * MIB, "bundle_too_large"), (65 * MIB, "bundle_too_much_packed")])
def test_more_bytes_than_an_import_takes_are_refused(tmp_path: Path, size: int, why: str) -> None:
    path = bundle_in(tmp_path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive, archive.open("index.md", "w") as stream:
        for _ in range(size // 65_536):
            stream.write(bytes(65_536))
    assert refused(path) == why


def test_damage_anywhere_in_a_zip_file_is_refused_or_harmless(tmp_path: Path) -> None:
    whole, chance = packed(GOOD), random.Random(17)
    path = bundle_in(tmp_path)
    for _ in range(300):
        raw = bytearray(whole)
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        path.write_bytes(raw[: chance.randrange(len(raw))] if chance.random() < 0.2 else raw)
        try:
            bundle = read_bundle(path)
        except BundleRefused:
            continue
        assert all(bundle.read(name) in GOOD.values() for name in bundle.names)


@table("content", [b"", b"PK", b"no zip file", b"PK\5\6" + bytes(10)])
def test_what_is_no_zip_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = bundle_in(tmp_path)
    path.write_bytes(content)
    assert refused(path) == "bundle_damaged"


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_bundle(tmp_path / "nowhere")


def test_a_folder_that_a_desktop_packed_around_everything_is_taken_off(tmp_path: Path) -> None:
    path = bundle_in(tmp_path)
    path.write_bytes(
        packed({"20260612/index.md": b"", "20260612/memories/observation/1.md": memory_file(), "__MACOSX/._x": b"x"})
    )
    bundle = read_bundle(path)
    assert bundle.names == ("index.md", "memories/observation/1.md")
    assert bundle.read("memories/observation/1.md") == memory_file()


def make_tree(tmp_path: Path) -> Path:
    """Return a folder with one good member."""
    root = bundle_in(tmp_path).with_name("tree")
    for name, content in GOOD.items():
        (root / name).parent.mkdir(parents=True)
        (root / name).write_bytes(content)
    return root


def link(root: Path) -> None:
    (root / "memories" / "x.md").symlink_to("/etc/passwd")


def link_to_folder(root: Path) -> None:
    (root / "lessons").symlink_to("/etc")


def link_inside(root: Path) -> None:
    (root / "memories" / "x.md").symlink_to("observation/1.md")


def pipe(root: Path) -> None:
    os.mkfifo(root / "memories" / "x.md")


def device(root: Path) -> None:
    (root / "CON.md").write_bytes(memory_file())


def twin(root: Path) -> None:
    (root / "memories" / "Observation").mkdir()
    (root / "memories" / "Observation" / "1.md").write_bytes(memory_file())


def deep(root: Path) -> None:
    (root / "/".join("abcdefgh")).mkdir(parents=True)
    (root / "/".join("abcdefgh") / "x.md").write_bytes(memory_file())


def no_text(root: Path) -> None:
    (root / os.fsdecode(b"caf\xe9.md")).write_bytes(memory_file())


def nested(root: Path) -> None:
    (root / "more.zip").write_bytes(packed(GOOD))


def large(root: Path) -> None:
    with (root / "index.md").open("wb") as stream:
        stream.truncate(40 * 1024 * 1024)


@table("spoil", [link, link_to_folder, link_inside, pipe, device, twin, deep, no_text, nested, large])
def test_a_hostile_member_of_a_folder_is_refused(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    root = make_tree(tmp_path)
    assert read_bundle(root).names == tuple(GOOD)
    spoil(root)
    assert refused(root).startswith("bundle_")


def test_a_file_that_becomes_a_link_after_its_name_was_read_is_refused(tmp_path: Path) -> None:
    root = make_tree(tmp_path)
    bundle = read_bundle(root)
    (root / bundle.names[0]).unlink()
    (root / bundle.names[0]).symlink_to("/etc/passwd")
    with pytest.raises(BundleRefused):
        bundle.read(bundle.names[0])


def test_what_desktops_and_editors_leave_behind_is_not_read(tmp_path: Path) -> None:
    root = make_tree(tmp_path)
    for name in (".DS_Store", "Thumbs.db", ".git/config"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(b"x")
    (root / ".link").symlink_to("/etc")
    assert read_bundle(root).names == tuple(GOOD)


@pytest.mark.django_db
def test_no_member_of_the_corpus_is_believed(ana: Any, tmp_path: Path) -> None:
    path = bundle_in(tmp_path)
    before = hash_of_database()
    for member in corpus("import_bundles"):
        path.write_bytes(packed(GOOD | {member["name"]: member["body"].encode()}))
        if member["expect"] == "reject_path":
            assert refused(path).startswith("bundle_"), member["name"]
            assert hash_of_database() == before
            continue
        with transaction.atomic():
            bring(ana, read_bundle(path))
            assert Memory.objects.for_owner(ana).live().count() == len(GOOD), member["name"]
            transaction.set_rollback(True)


@pytest.mark.django_db
def test_the_corpus_as_memories_gets_the_verdicts_that_it_expects(ana: Any) -> None:
    for member in corpus("import_bundles"):
        if member["expect"] == "reject_path":
            continue
        bundle = in_memory({"memories/observation/x.md": as_memory(member["body"])})
        verdict = look(ana, bundle).files[0].verdict
        assert verdict in EXPECTED[member["expect"]], member
        with transaction.atomic():
            bring(ana, bundle)
            assert Memory.objects.for_owner(ana).live().exists() is (verdict is Verdict.NEW), member
            transaction.set_rollback(True)


def as_memory(body: str) -> bytes:
    """Return a file that the corpus wrote as a methodology as one of a memory, its fault kept."""
    changed = body.replace("asset_class: major_crypto", "category: observation").replace(
        "asset_class: M",
        "category: M",
    )
    for field in ("confidence: 0.7", "quarantine: 0", "times_used: 40", "id: m1"):
        changed = changed.replace(f"\n{field}\n", "\n").replace(f"\r\n{field}\r\n", "\r\n")
    return changed.encode()


REFUSED = {Verdict.REJECTED, Verdict.HELD}
EXPECTED = {
    "control": {Verdict.NEW},
    "reject": REFUSED,
    "reject_or_last_wins": REFUSED,
    "reject_or_strip": REFUSED,
    "never_active": REFUSED,
    "accept_or_reject_cleanly": {Verdict.NEW},
    "accept_b_or_a_consistent": {Verdict.NEW},
}
