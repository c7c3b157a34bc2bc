"""`minara search`."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from memory_app.index.documents import newest_index_problems
from memory_app.memories.services import Draft, write_memory
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from tests.kit.tables import table
from tests.memory_app.memories.factories import make_memory

pytestmark = pytest.mark.django_db


@pytest.mark.database
def test_finds_what_is_out_of_step_and_mends_it(ana, capsys):
    draft = Draft(Category.PERSONALIZATION, "I hold ETH", Provenance(Source.USER_MANUAL, "test"))
    memory = write_memory(owner_id=ana.pk, draft=draft, now=timezone.now())
    call_command("search", "check")
    assert newest_index_problems() == []
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM search_document")
    problem = f"memory {memory.pk} has no search document"
    assert newest_index_problems() == [problem]
    with pytest.raises(CommandError, match="Out of step: 1"):
        call_command("search", "check")
    assert problem in capsys.readouterr().out
    call_command("search", "rebuild")
    assert newest_index_problems() == []


@table("words", [["eth"], ["hold", "eth"], ["eth", "--limit", "2"], ["--fusion", "rrf", "hold", "eth"]])
def test_finds_by_words_before_and_after_its_options(ana, capsys, words):
    make_memory(ana, "I hold ETH")
    call_command("search", "find", "--user", ana.username, *words)
    assert "I hold ETH" in capsys.readouterr().out


@table("words", [[], ["find"], ["lose"]])
def test_asks_for_an_act_and_something_to_find(words):
    with pytest.raises(CommandError, match=r"required|choice"):
        call_command("search", *words)
