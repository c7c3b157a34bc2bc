"""`/ops/export/`: an order, a worker, a file for a day."""

import io
import stat
from datetime import timedelta
from typing import Any
from zipfile import ZipFile

import pytest
from django.test import Client
from django.utils import timezone

from memory_app.bundle.adapters import upload_store
from memory_app.bundle.adapters.upload_store import store_upload
from memory_app.bundle.models import BundleTransfer
from memory_app.bundle.tasks import delete_expired
from memory_app.memories.models import Memory
from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.services import set_entry
from minara_site.access.models import AccessEntry
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.files.models import StoredFile, StoredPart
from minara_site.kernel.files.services import find_file, keep_file
from minara_site.kernel.jobs.models import JobRun
from tests.memory_app.bundle.wizard import newest, take_away, upload, work, write

pytestmark = pytest.mark.django_db
CANARY = "quokka never risks more than two percent"


def order(client: Client, **options: str) -> BundleTransfer:
    answer = client.post("/ops/export/", {"sign": "on", **options})
    assert answer.status_code == 303, answer.content
    transfer = newest()
    assert answer["Location"] == f"/ops/export/{transfer.pk}/"
    work()
    return newest()


def test_a_person_orders_an_export_and_takes_it_away(page: Client, ana: Any) -> None:
    write(ana, "avoids memes")
    transfer = order(page)
    assert transfer.state == "done"
    assert stat.S_IMODE(upload_store.upload_folder().stat().st_mode) == 0o700
    assert list(upload_store.upload_folder().iterdir()) == [], "the tree and its zip are gone"
    shown = page.get(f"/ops/export/{transfer.pk}/").content.decode()
    assert f"/ops/export/{transfer.pk}/download/" in shown
    answer = page.get(f"/ops/export/{transfer.pk}/download/")
    assert answer["Content-Disposition"].startswith('attachment; filename="minara-export-')
    assert (answer["Cache-Control"], answer["Content-Type"]) == ("no-store", "application/zip")
    content = b"".join(answer.streaming_content)
    assert int(answer["Content-Length"]) == len(content)
    with ZipFile(io.BytesIO(content)) as archive:
        assert {"index.md", "signature.txt"} <= set(archive.namelist())
        assert any(b"avoids memes" in archive.read(name) for name in archive.namelist())
    assert AuditEntry.objects.filter(tool_call="export_downloaded", owner_id=ana.pk).count() == 1


def test_what_the_import_page_would_not_take_says_how_it_comes_back(
    page: Client,
    ana: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(ana, "avoids memes")
    transfer = order(page)
    assert "minara memory import DIR" not in page.get(f"/ops/export/{transfer.pk}/").content.decode()
    monkeypatch.setattr("memory_app.bundle.adapters.archive.MAX_MEMBERS", 2)
    transfer = order(page)
    assert "minara memory import DIR" in page.get(f"/ops/export/{transfer.pk}/").content.decode()
    upload(page, take_away(page, transfer), source_format="minara", name="a.zip")
    work()
    assert newest().state == "refused"
    assert "minara memory import DIR" in newest().error


def test_hard_constraints_stay_out_unless_somebody_fresh_asks(page: Client, ana: Any) -> None:
    write(ana, CANARY, fact_type="constraint.hard")
    transfer = order(page)
    assert CANARY.encode() not in unpack(take_away(page, transfer))
    shown = page.get(f"/ops/export/{transfer.pk}/").content.decode()
    assert "left out: hard constraints" in shown.replace("\n", "")
    transfer = order(page, include_constraints="on")
    assert CANARY.encode() in unpack(take_away(page, transfer))
    make_stale(page)
    before = BundleTransfer.objects.count()
    for answer in (
        page.post("/ops/export/", {"include_constraints": "on"}),
        page.get(f"/ops/export/{transfer.pk}/download/"),
    ):
        assert answer.status_code == 302
        assert "/reauthenticate" in answer["Location"]
    assert BundleTransfer.objects.count() == before
    assert page.post("/ops/export/", {"sign": "on"}).status_code == 303


def unpack(content: bytes) -> bytes:
    with ZipFile(io.BytesIO(content)) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def make_stale(client: Client) -> None:
    """Let the sign-in be a day old."""
    session = client.session
    for method in session["account_authentication_methods"]:
        method["at"] -= 24 * 3600
    session.save()


@pytest.mark.database
def test_an_export_is_gone_after_a_day(page: Client, ana: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    transfer = order(page)
    late = timezone.now() + timedelta(hours=24, seconds=1)
    assert delete_expired(now=late - timedelta(seconds=5))["forgotten"] == 0
    assert find_file(transfer.file_name)
    assert delete_expired(now=late)["forgotten"] == 1
    assert not StoredPart.objects.exists()
    assert (newest().state, newest().file_name) == ("expired", "")
    assert page.get(f"/ops/export/{transfer.pk}/download/").status_code == 410
    assert delete_expired(now=late)["forgotten"] == 0


def test_what_nobody_knows_is_deleted_from_the_folder(page: Client, ana: Any) -> None:
    transfer = order(page)
    (upload_store.upload_folder() / "left by a dead worker").mkdir()
    (upload_store.upload_folder() / "stray.bin").write_bytes(b"x")
    with pytest.raises(ZeroDivisionError):  # of an upload that broke off nothing stays
        store_upload((bytes(1 // count) for count in (1, 0)), now=timezone.now(), expires_at=timezone.now())
    left, _is_zip = store_upload([b"half"], now=timezone.now(), expires_at=timezone.now() + timedelta(days=1))
    assert set(StoredFile.objects.values_list("name", flat=True)) == {transfer.file_name, left.name}
    assert delete_expired(now=timezone.now())["strays"] == 0
    BundleTransfer.objects.update(expires_at=timezone.now() + timedelta(days=9))
    keep_file(transfer.file_name, until=timezone.now() + timedelta(days=9))
    assert delete_expired(now=timezone.now() + timedelta(days=2))["strays"] == 3
    assert find_file(transfer.file_name)


def test_an_operator_who_looks_leaves_a_trace_and_may_export_for_somebody_by_name(
    page: Client,
    operator_page: Client,
    olga: Any,
    ana: Any,
) -> None:
    transfer = order(page)
    assert operator_page.get("/ops/export/?owner=ana").status_code == 200
    assert operator_page.get(f"/ops/export/{transfer.pk}/").status_code == 200
    assert set(AccessEntry.objects.filter(owner=ana).values_list("kind", flat=True)) == {"transfer", "transfers"}
    assert operator_page.post("/ops/export/?owner=ana", {"sign": "on"}).status_code == 303
    assert (newest().owner, newest().actor) == (ana, f"user:{olga.pk}")
    assert operator_page.post("/ops/export/?owner=all", {"sign": "on"}).status_code == 404


def plant_secrets(owner: Any) -> list[str]:
    """Store a secret wherever an export has a text, each as if an operator had released it; return them all."""
    secrets = [f"Tr0ub4dor-{number}kQ2" for number in range(4)]
    write(owner, "harmless BTC note")
    Memory.objects.filter(owner=owner).update(
        content=f"BTC exchange, password: {secrets[0]}",
        metadata={"password": secrets[1]},
        origin=f"import:password: {secrets[2]}",
    )
    set_entry(owner=owner, key="password", value="harmless", actor="user:1", now=timezone.now())
    UserProfileEntry.objects.filter(owner=owner).update(value=secrets[3])
    return secrets


def test_an_operators_export_of_somebody_else_has_no_secret_and_is_not_signed(
    page: Client,
    operator_page: Client,
    ana: Any,
) -> None:
    secrets = plant_secrets(ana)
    own = unpack(take_away(page, order(page)))
    assert all(secret.encode() in own for secret in secrets)
    assert b"masked" not in own
    assert "so it is not signed" in operator_page.get("/ops/export/?owner=ana").content.decode()
    operator_page.post("/ops/export/?owner=ana", {"sign": "on"})
    work()
    content = take_away(operator_page, newest())
    assert not any(secret.encode() in unpack(content) for secret in secrets)
    with ZipFile(io.BytesIO(content)) as archive:
        assert "signature.txt" not in archive.namelist()
        assert "secrets are masked, and nothing is signed" in archive.read("README.md").decode()
        assert any("exchange, password: Tr0•••" in archive.read(name).decode() for name in archive.namelist())
        assert "assets/BTC.md" in archive.namelist()
    assert newest().result["is_signed"] is False
    assert "so it is not signed" in operator_page.get(f"/ops/export/{newest().pk}/").content.decode()
    details = AuditEntry.objects.filter(tool_call="bundle_exported").latest("pk").details
    assert (details["masked"], details["signed"]) == (True, False)


def test_an_export_is_taken_away_by_nobody_but_whoever_asked_for_it(
    page: Client,
    operator_page: Client,
    ana: Any,
) -> None:
    mine = order(page)
    operator_page.post("/ops/export/?owner=ana", {})
    work()
    theirs = newest()
    for somebody, foreign in ((operator_page, mine), (page, theirs)):
        url = f"/ops/export/{foreign.pk}/"
        assert somebody.get(f"{url}download/").status_code == 404
        shown = somebody.get(url).content.decode()
        assert f"{url}download/" not in shown
        assert "no one else" in shown
    assert not AuditEntry.objects.filter(tool_call="export_downloaded").exists()
    assert take_away(operator_page, theirs)


def test_the_page_of_an_export_on_its_way_counts_files_and_asks_until_it_is_written(page: Client, ana: Any) -> None:
    page.post("/ops/export/", {"sign": "on"})
    url = f"/ops/export/{newest().pk}/"
    run = JobRun.objects.filter(job="bundle.export")
    run.update(state="running", done=1500, total=1500)
    shown = page.get(url).content.decode()
    assert "1,500" in shown
    assert "of 1,500" not in shown, "nobody knows how many they will be"
    assert "bar-fill" not in shown
    run.update(state="queued", done=0, total=0)
    assert 'hx-trigger="every 2s"' in page.get(url).content.decode()
    assert page.get(f"{url}progress/").status_code == 303
    asked = page.get(f"{url}progress/", headers={"HX-Request": "true"})
    assert "HX-Refresh" not in asked
    work()
    assert page.get(f"{url}progress/", headers={"HX-Request": "true"})["HX-Refresh"] == "true"
