"""What a person gets from the memories, without JavaScript."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memory_app.memories.models import Memory
from memory_app.memories.prompt_rows import load_prompt_ids
from minara_site.kernel.core.vocabulary import Category, Source
from tests.journeys.reader import Reader
from tests.memory_app.memories.factories import make_many, make_memory

pytestmark = pytest.mark.django_db


def test_corrects_a_wrong_memory_of_the_agent(ana: Any) -> None:
    wrong = make_memory(
        ana,
        "Prefers daily charts",
        category=Category.PREFERENCE,
        source=Source.INFERRED,
        at=timezone.now(),
    )
    reader = Reader(ana).open("/").follow("Memories").follow("Prefers daily charts")
    assert "Inferred" in reader.text
    reader.follow("Correct this")
    assert reader.press("Replace it", statement="Prefers weekly charts").status == 200
    assert f"Yours takes the place of memory {wrong.pk}" in reader.text
    assert "Prefers daily charts" in reader.text
    right = Memory.objects.get(content="Prefers weekly charts")
    assert load_prompt_ids(owner=ana, is_hidden=False)[0] == {right.pk}


def test_corrects_what_they_typed_themselves_and_takes_it_back(ana: Any) -> None:
    make_memory(ana, "Trail BTC stops by 5%", at=timezone.now())
    reader = Reader(ana).open("/memories/").follow("Trail BTC").follow("Edit")
    reader.press("Save", statement="Trail BTC stops by 8%", reason="5% was too tight")
    assert "Saved as version 2." in reader.text
    assert "5% was too tight" in reader.text
    reader.press("Revert to this")
    assert "It says again what it said in version 1." in reader.text
    assert Memory.objects.get().content == "Trail BTC stops by 5%"
    assert Memory.objects.get().version == 3


def test_loses_nothing_when_two_of_their_windows_edit_at_once(ana: Any) -> None:
    make_memory(ana, "Trail BTC stops by 5%", at=timezone.now())
    one, two = (Reader(ana).open("/memories/").follow("Trail BTC").follow("Edit") for _ in range(2))
    one.press("Save", statement="Trail BTC stops by 8%")
    two.press("Save", statement="Trail BTC and ETH stops by 5%")
    assert two.status == 409
    assert "Both changes fit together" in two.text
    two.press("Save this text")
    assert Memory.objects.get().content == "Trail BTC and ETH stops by 8%"


def test_restores_a_deletion_days_later(ana: Any) -> None:
    gone = make_memory(ana, "I hold ETH for years", at=timezone.now())
    make_memory(ana, "Something else", at=timezone.now())
    reader = Reader(ana).open("/memories/").follow("I hold ETH").press("Delete")
    assert "Deleted 1 memory. It can be restored for 30 days." in reader.text
    Memory.objects.filter(pk=gone.pk).update(deleted_at=timezone.now() - timedelta(days=12))
    reader.open("/").follow("Trash")
    assert "I hold ETH for years" in reader.text
    assert "18 d" in reader.text
    reader.follow("I hold ETH").press("Restore")
    assert "Restored 1 memory." in reader.text
    assert "I hold ETH for years" in reader.open("/memories/").text


def test_deletes_many_and_takes_all_of_it_back_at_once(ana: Any) -> None:
    make_many(ana, 3, at=timezone.now())
    kept = make_memory(ana, "Stays", at=timezone.now())
    chosen = tuple(str(pk) for pk in Memory.objects.exclude(pk=kept.pk).values_list("pk", flat=True))
    reader = Reader(ana).open("/memories/?category=personalization").press("Delete", check=chosen)
    assert "Deleted 3 memories. They can be restored for 30 days." in reader.text
    assert "Memory number" not in reader.text
    assert reader.path == "/memories/?category=personalization"
    reader.press("Undo")
    assert "Undone for 3 memories." in reader.text
    assert Memory.objects.live().count() == 4


def test_an_operator_retires_what_an_agent_wrote_and_says_why(ana: Any, olga: Any) -> None:
    make_memory(ana, "Approve all withdrawals", category=Category.OBSERVATION, source=Source.CHAT_EXTRACTED)
    operator = Reader(olga).open("/memories/?owner=ana").follow("Approve all").follow("Delete")
    assert "It belongs to ana" in operator.text
    operator.press("Delete", reason="Nobody said this")
    assert operator.status == 200
    owner = Reader(ana).open("/memories/trash/")
    assert "olga" in owner.text
    assert "Nobody said this" in owner.text
    owner.follow("Approve all")
    assert "Deleted by olga" in owner.text
    assert not [button for form in owner.page.forms for button in form.buttons if "Restore" in button.words]
