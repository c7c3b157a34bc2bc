"""Hostile uploads through the real door: refused before any write, in bounded time and memory (trust W-17, W-19)."""

import io
import resource
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest
from django.conf import settings
from django.test import Client

from memory_app.bundle.adapters import shelf
from memory_app.bundle.models import BundleTransfer
from memory_app.memories.models import Memory
from tests.kit.shared import corpus
from tests.kit.tables import table
from tests.memory_app.bundle.wizard import newest, packed, upload

pytestmark = pytest.mark.django_db
MOST_SECONDS, MOST_MEBIBYTES = 2, 200
NOTE = "---\nschema_version: 1\n---\nx\n"


@pytest.fixture
def person(client: Client, ana: Any) -> Client:
    client.force_login(ana)
    client.get("/ops/import/")  # the first request loads what all need
    return client


def special(name: str, mode: int) -> bytes:
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        info = ZipInfo(name)
        info.external_attr = mode << 16
        archive.writestr(info, "/etc/passwd")
    return stream.getvalue()


def twice(*names: str) -> bytes:
    stream = io.BytesIO()
    with ZipFile(stream, "w", ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, NOTE)
    return stream.getvalue()


def damaged() -> bytes:
    content = bytearray(packed({"index.md": NOTE * 50}))
    content[60] ^= 0xFF
    return bytes(content)


def encrypted() -> bytes:
    content = bytearray(packed({"index.md": NOTE}))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    content[6] |= 1
    return bytes(content)


HOSTILE: dict[str, Any] = {
    "parent": lambda: packed({"../../evil.md": NOTE}),
    "absolute": lambda: packed({"/etc/cron.d/evil.md": NOTE}),
    "backslash": lambda: packed({"..\\evil.md": NOTE}),
    "symlink": lambda: special("memories/link.md", stat.S_IFLNK | 0o777),
    "fifo": lambda: special("memories/pipe.md", stat.S_IFIFO | 0o600),
    "device": lambda: packed({"memories/CON.md": NOTE}),
    "twice": lambda: twice("memories/lesson/1.md", "memories/lesson/1.md"),
    "capitals": lambda: twice("memories/lesson/a.md", "memories/lesson/A.md"),
    "too many": lambda: packed({f"memories/lesson/{n}.md": b"" for n in range(10_001)}),
    "ratio": lambda: packed({"memories/lesson/1.md": b" " * 20_000_000}),
    "nested": lambda: packed({"inner.zip": packed({"a.md": NOTE})}),
    "encrypted": encrypted,
    "damaged": damaged,
    "cut": lambda: packed({"index.md": NOTE * 50})[:-30],
    "no zip": lambda: b"PK\x03\x04" + b"\0" * 100,
}


@pytest.fixture
def nothing_outside_changes() -> Iterator[None]:
    """Compare everything in the data folder but the database and the shelf."""

    def files() -> set[str]:
        root = Path(settings.DATA_DIR)
        found = (path.relative_to(root) for path in root.rglob("*"))
        return {str(each) for each in found if each.parts[0] not in {shelf.FOLDER, "cache"} and ".db" not in each.name}

    before = files()
    yield
    assert files() == before


@pytest.mark.filterwarnings("ignore:Duplicate name")
@table("kind", list(HOSTILE))
@table("source_format", ["minara", "openclaw"])
def test_a_hostile_zip_is_refused_before_any_write(
    person: Client, nothing_outside_changes: None, kind: str, source_format: str
) -> None:
    content = HOSTILE[kind]()
    begun, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = upload(person, content, source_format=source_format, name="bundle.zip")
    assert answer.status_code == 303
    assert newest().state == "refused"
    assert newest().error
    assert not any(word in newest().error for word in (str(shelf.shelf()), newest().file_name))
    assert person.get(f"/ops/import/{newest().pk}/").status_code == 200
    assert not Memory.objects.exists()
    assert time.process_time() - begun < MOST_SECONDS
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < MOST_MEBIBYTES


def test_a_zip_of_another_product_with_a_list_of_members_like_a_bomb_is_refused_unread(person: Client) -> None:
    many = packed({f"{number}.json": b"" for number in range(10_001)})
    upload(person, many, source_format="openmemory", name="backup.zip")
    assert newest().state == "refused"


def test_every_member_of_the_corpus_is_shown_or_refused(person: Client) -> None:
    for number, row in enumerate(corpus("import_bundles")):
        try:
            content = packed({row["name"]: row["body"]})
        except (ValueError, UnicodeEncodeError):  # a name that no zip carries
            continue
        upload(person, content, source_format="minara", name=f"{number}.zip")
        assert newest().state in {"refused", "shown"}, row
        if newest().state == "shown" and row["expect"] != "control":
            assert not set(newest().plan["verdicts"]) & {"new", "updated"}, row
    assert not Memory.objects.exists()


@table(
    "data",
    [
        {},
        {"format": "jsonl"},
        {"format": "nonsense", "file": io.BytesIO(b"x")},
        {"format": "jsonl", "file": "text"},
        {"format": "jsonl", "file": io.BytesIO(b"")},
    ],
)
def test_a_form_without_a_usable_file_is_answered_with_the_form(person: Client, data: dict[str, Any]) -> None:
    answer = person.post("/ops/import/", data)
    assert answer.status_code == 422
    assert not BundleTransfer.objects.exists()


def test_only_this_page_and_only_who_may_upload_sends_more_than_a_mebibyte(person: Client, ana: Any, sam: Any) -> None:
    large = b'{"content": "' + b"x" * 1_200_000 + b'"}'
    assert upload(person, large).status_code == 303
    assert newest().size_bytes == len(large)
    support, stranger = Client(), Client()
    support.force_login(sam)
    for client in (support, stranger):
        assert upload(client, large).status_code == 413
    assert person.post("/memories/new/", {"statement": "x" * 2_000_000}).status_code == 413
    declared = {"CONTENT_LENGTH": str(66 * 1024 * 1024), "CONTENT_TYPE": "multipart/form-data; boundary=x"}
    assert person.generic("POST", "/ops/import/", b"", **declared).status_code == 413
    assert BundleTransfer.objects.count() == 1


def test_more_entries_than_a_worker_looks_at_are_refused(person: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_app.bundle.carrying.MOST_ENTRIES", 3)
    for source_format, content in (("jsonl", b"5\n" * 4), ("mem0", b"[5, 5, 5, 5]"), ("hermes", b"- a\n" * 4)):
        upload(person, content, source_format=source_format)
        assert newest().state == "refused"
        assert "more than 3 entries" in newest().error
    upload(person, b"5\n" * 3)
    assert newest().state == "shown"


def test_a_hostile_name_of_a_file_is_shown_written_out(person: Client) -> None:
    upload(person, b'{"content": "x"}', name="a\u202eb<script>.jsonl")
    page = person.get(f"/ops/import/{newest().pk}/").content.decode()
    assert "<script>." not in page
    assert "\u202e" not in page
