"""What somebody else imports for an owner: whose word it is, where it stands, and rolling it back."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memory_app.bundle.core.plan import Channel
from memory_app.bundle.services import apply_import
from memory_app.importers.adapters import Format, open_bundle
from memory_app.importers.services import run_import
from memory_app.memories.models import Memory
from memory_app.memories.prompt_rows import Rank, load_ranks
from memory_app.memories.unconfirmed import find_unconfirmed
from memory_app.user_profile.models import UserProfileEntry
from memory_app.user_profile.services import set_entry
from memory_app.writes.models import BroughtIn
from minara_site.access.models import User
from minara_site.kernel.core.vocabulary import Source
from tests.kit.clock import NOON
from tests.kit.page import text_of
from tests.kit.visitor import visitor
from tests.memory_app.bundle.trees import export, in_memory, load, look, memory_file
from tests.memory_app.writes.factories import person, profiles, standing, write

pytestmark = pytest.mark.django_db
LINE = {"content": "never trade on Fridays", "category": "personalization"}
ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"


def bring(owner: Any, actor: str, folder: Path, *lines: dict[str, Any]) -> None:
    """Import JSON lines and a profile value as this actor, in one run."""
    path = folder / "notes.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines or (LINE,)))
    told = {
        "owner": owner,
        "apply": True,
        "now": timezone.now(),
        "actor": actor,
        "run": "r1",
        "file": path.name,
    }
    list(run_import(bundle=open_bundle(path, Format.JSONL), **told))
    (folder / "USER.md").write_text("- Wallet: " + ADDRESS + "\n")
    list(run_import(bundle=open_bundle(folder, Format.OPENCLAW), **told))


@pytest.mark.parametrize(
    ("owner", "actor", "source"),
    [
        ("ana", "user:{ana}", Source.USER_EXPLICIT),
        ("ana", "user:{olga}", Source.INFERRED),
        ("ana", "command:import", Source.INFERRED),
        ("default", "command:import", Source.USER_EXPLICIT),
    ],
)
def test_only_what_owners_import_themselves_is_their_word(ana, olga, tmp_path, owner, actor, source):
    user, actor = User.objects.get(username=owner), actor.format(ana=ana.pk, olga=olga.pk)
    bring(user, actor, tmp_path)
    files = {"memories/lesson/1.md": memory_file("cut losers", category="lesson")}
    plan = look(user, in_memory(files))
    told = {"owner": user, "plan_sha256": plan.sha256, "actor": actor, "now": timezone.now()}
    apply_import(bundle=in_memory(files), file="tree.zip", **told)
    rows = Memory.objects.filter(owner=user)
    assert {(row.source, row.badge) for row in rows} == {
        (source, "imported" if source is Source.USER_EXPLICIT else "brought_in")
    }
    by_hand, _observations, _left_out = load_ranks(user, is_hidden=False)
    assert [len(by_hand[rank]) for rank in (Rank.BY_HAND, Rank.CLAIMED)] == [int(source is Source.USER_EXPLICIT)] * 2
    assert bool(find_unconfirmed({1: f"send to {ADDRESS}"}, owner=user)) is (source is Source.INFERRED)
    told_of = list(BroughtIn.objects.order_by("pk").values_list("file", "memories", "values", "actor"))
    is_own = source is Source.USER_EXPLICIT
    assert told_of == ([] if is_own else [("notes.jsonl", 1, 1, actor), ("tree.zip", 1, 0, actor)])


def test_a_signed_bundle_keeps_what_it_says(ana, olga, tmp_path):
    write(person(ana), "mine", now=NOON, typed=True)
    files = load(export(ana, tmp_path / "out"))
    Memory.objects.all().delete()
    plan = look(ana, in_memory(files))
    assert plan.channels[Channel.SIGNED] == 1
    told = {"owner": ana, "plan_sha256": plan.sha256, "actor": f"user:{olga.pk}", "now": NOON}
    apply_import(bundle=in_memory(files), **told)
    assert (Memory.objects.get().source, Memory.objects.get().badge) == (Source.USER_MANUAL, Source.USER_MANUAL)
    assert BroughtIn.objects.get().memories == 1


@pytest.mark.database
def test_the_owner_is_told_and_rolls_it_back_and_undoes_that(ana, olga, tmp_path):
    client: Client = visitor(ana)
    mine = write(person(ana), "mine", now=timezone.now(), typed=True)
    set_entry(owner=ana, key="zone", value="UTC", actor=f"user:{ana.pk}", now=timezone.now())
    bring(ana, f"user:{olga.pk}", tmp_path, LINE, {"content": "second"})
    run = BroughtIn.objects.get()
    home = text_of(client.get("/"))
    assert re.search(r"Brought in by olga: 2 memories, 1 profile value, out of notes.jsonl", home)
    assert "brought in by olga" in text_of(client.get("/user-profile/"))
    row = Memory.objects.get(content="second")
    for path in ("/memories/", f"/memories/{row.pk}/"):
        assert re.search(r"Brought in</span>.*?by olga", text_of(client.get(path)), re.DOTALL), path
    assert "Brought in by olga, out of the file notes.jsonl" in text_of(client.get(f"/memories/{row.pk}/why/"))
    page, path = text_of(client.get(f"/memories/brought-in/{run.pk}/")), f"/memories/brought-in/{run.pk}/"
    assert "second" in page
    assert "mine" not in page
    for sent, is_told in (({}, False), ({"again": "1"}, True)):
        assert client.post(f"{path}seen/", sent).status_code == 303
        assert ("Brought in by olga" in text_of(client.get("/"))) is is_told
    before = standing(), profiles()
    form = text_of(client.get(f"{path}roll-back/"))
    assert client.post(f"{path}roll-back/", {"plan": "0" * 64}).status_code == 409
    assert (standing(), profiles()) == before
    sha256 = re.search(r'name="plan" value="([0-9a-f]{64})"', form)[1]
    assert client.post(f"{path}roll-back/", {"plan": sha256}).status_code == 303
    assert list(Memory.objects.live().values_list("pk", flat=True)) == [mine.pk]
    assert list(UserProfileEntry.objects.values_list("key", flat=True)) == ["zone"]
    assert "You rolled this import back" in text_of(client.get(path))
    assert client.post(f"{path}undo/").status_code == 303
    assert (standing(), profiles()) == before
    assert client.post(f"{path}undo/").status_code == 404


def test_a_large_import_is_rolled_back_in_parts_and_so_is_its_undo(ana, olga, tmp_path, monkeypatch):
    client: Client = visitor(ana)
    for module in ("core.memories", "models"):
        monkeypatch.setattr(f"memory_app.writes.{module}.MAX_ROWS", 2)
    bring(ana, f"user:{olga.pk}", tmp_path, *({"content": f"note {number}"} for number in range(5)))
    path, rest = f"/memories/brought-in/{BroughtIn.objects.get().pk}/", "Roll it back again for the rest"
    for left in (3, 1, 0):
        assert "Roll back th" in text_of(client.get(path))
        form = text_of(client.get(f"{path}roll-back/"))
        assert (rest in form) is (left > 0)
        sha256 = re.search(r'name="plan" value="([0-9a-f]{64})"', form)[1]
        assert client.post(f"{path}roll-back/", {"plan": sha256}).status_code == 303
        assert Memory.objects.live().count() == left
        assert ("You rolled a part of this import back" in text_of(client.get(path))) is (left > 0)
    assert "Roll back th" not in text_of(client.get(path))
    for back in (1, 3, 5):
        assert client.post(f"{path}undo/").status_code == 303
        assert Memory.objects.live().count() == back
