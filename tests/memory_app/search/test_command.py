"""`minara search`."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from memory_app.memories.core import Category, Provenance, Source
from memory_app.memories.services import Draft, write_memory
from memory_app.search.index import newest_index_problems

pytestmark = pytest.mark.django_db


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
