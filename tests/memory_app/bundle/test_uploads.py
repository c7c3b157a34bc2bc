"""Hostile uploads through the page: refused before any write (trust W-17, W-19)."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from memory_app.bundle.adapters import upload_store
from memory_app.bundle.models import BundleTransfer
from memory_app.memories.models import Memory
from tests.kit.tables import table
from tests.kit.visitor import visitor
from tests.memory_app.bundle.hostile_zips import HOSTILE
from tests.memory_app.bundle.wizard import newest, upload

pytestmark = pytest.mark.django_db
OF_A_WORKSPACE = ("parent", "symlink", "damaged", "cut", "no zip")  # all others are refused in adapters/


@pytest.fixture
def nothing_outside_changes() -> Iterator[None]:
    """Compare everything in the data folder but the database and the upload_store."""

    def files() -> set[str]:
        root = Path(settings.DATA_DIR)
        found = (path.relative_to(root) for path in root.rglob("*"))
        return {
            str(each)
            for each in found
            if each.parts[0] not in {upload_store.FOLDER, "cache"} and ".db" not in each.name
        }

    before = files()
    yield
    assert files() == before


@table(
    ("source_format", "kind"),
    [
        *(("minara", kind) for kind in HOSTILE),
        *(("openclaw", kind) for kind in OF_A_WORKSPACE),
        ("openmemory", "too many"),
    ],
)
def test_a_hostile_zip_is_refused_before_any_write(
    page: Client,
    nothing_outside_changes: None,
    kind: str,
    source_format: str,
) -> None:
    answer = upload(page, HOSTILE[kind](), source_format=source_format, name="bundle.zip")
    assert answer.status_code == 303
    assert newest().state == "refused"
    assert newest().error
    assert not any(word in newest().error for word in (str(upload_store.upload_folder()), newest().file_name))
    assert page.get(f"/ops/import/{newest().pk}/").status_code == 200
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
def test_a_form_without_a_usable_file_is_answered_with_the_form(page: Client, data: dict[str, Any]) -> None:
    answer = page.post("/ops/import/", data)
    assert answer.status_code == 422
    assert not BundleTransfer.objects.exists()


def test_only_this_page_and_only_who_may_upload_sends_more_than_a_mebibyte(page: Client, sam: Any) -> None:
    large = b'{"content": "' + b"x" * 1_200_000 + b'"}'
    assert upload(page, large).status_code == 303
    assert newest().size_bytes == len(large)
    for client in (visitor(sam), Client()):
        assert upload(client, large).status_code == 413
    assert page.post("/memories/new/", {"statement": "x" * 2_000_000}).status_code == 413
    declared = {"CONTENT_LENGTH": str(66 * 1024 * 1024), "CONTENT_TYPE": "multipart/form-data; boundary=x"}
    assert page.generic("POST", "/ops/import/", b"", **declared).status_code == 413
    assert BundleTransfer.objects.count() == 1


def test_more_entries_than_a_worker_looks_at_are_refused(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_app.bundle.transfer_jobs.MAX_ENTRIES", 3)
    for source_format, content in (
        ("jsonl", b"5\n" * 4),
        ("mem0", b"[5, 5, 5, 5]"),
        ("hermes", b"- a\n" * 4),
    ):
        upload(page, content, source_format=source_format)
        assert newest().state == "refused"
        assert "more than 3 entries" in newest().error
    upload(page, b"5\n" * 3)
    assert newest().state == "shown"


def test_a_hostile_name_of_a_file_is_shown_written_out(page: Client) -> None:
    upload(page, b'{"content": "x"}', name="a\u202eb<script>.jsonl")
    shown = page.get(f"/ops/import/{newest().pk}/").content.decode()
    assert "<script>." not in shown
    assert "\u202e" not in shown
