"""The tool `note_write`."""

from typing import Annotated, Any

from django.utils import timezone
from pydantic import Field

from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.access.tools import Tool
from minara_site.kernel.guard.selectors import written_record
from minara_site.web.schemas import Strict
from tests.toy.models import NOTE_KIND
from tests.toy.services import write_note


class NoteWriteArgs(Strict):
    """Arguments of note_write."""

    text: Annotated[str, Field(description="One note, 1 to 500 characters. No secrets.")]


def note_write(principal: Principal, args: NoteWriteArgs, *, reasoning: str) -> dict[str, Any]:
    """Write a note. `held` says that the guard holds it."""
    owner, actor = principal.owner, principal.actor
    note = write_note(owner=owner, text=args.text, actor=actor, now=timezone.now(), reasoning=reasoning)
    return written_record(NOTE_KIND, note)


TOOLS = (
    Tool(
        "note_write",
        "Write one note for the user to read. It enters no prompt.",
        NoteWriteArgs,
        Act.MEMORY_WRITE,
        note_write,
        is_read_only=False,
    ),
)
