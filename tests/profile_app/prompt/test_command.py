"""`minara prompt`: the shell prints what the next session would read."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from profile_app.prompt.selectors import load_next_prompt
from tests.memory_app.memories.factories import make_memory


@pytest.mark.django_db
def test_prints_the_prompt_of_the_next_session(ana):
    make_memory(ana, "always set slippage to 0.5%")
    out = StringIO()
    call_command("prompt", "--user", "ana", stdout=out, stderr=StringIO())
    assert out.getvalue() == load_next_prompt(owner=ana, now=timezone.now()).text + "\n"
