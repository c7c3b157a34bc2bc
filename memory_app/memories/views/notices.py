"""What pages say after a delete or a restore, and before one that needs a reason."""

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _, ngettext

from memory_app.memories.core import MEMORY_KIND
from memory_app.memories.models import Memory
from memory_app.memories.pages.rows import restorable_label
from memory_app.memories.services import Batch
from minara_site.kernel.guard.selectors import find_open_holds
from minara_site.shell.pages import PageRequest
from minara_site.web.labels import sentences
from minara_site.web.moments import number_label
from minara_site.web.page_acts import load_page_acts
from minara_site.web.responses import see_other, toast


def announce(
    request: PageRequest,
    action: str,
    batch: Batch,
    *,
    kept: int = 0,
    hard: int = 0,
    is_limit: bool = False,
) -> None:
    """Say what was deleted or restored, with one undo for all of it; `hard` is how many ask on their own pages.

    No undo starts or ends a limit: its page does.
    """
    if not batch.ids:
        toast(request, hard_label(hard) if hard else _("Nothing changed; it was so already."))
        return
    words = deleted_label(len(batch.ids)) if action == "delete" else restored_label(len(batch.ids))
    if hard:
        words = sentences(words, hard_label(hard))
    if kept:
        words = sentences(words, kept_in_trash_label(kept))
    if batch.held:
        words = sentences(words, held_label(batch.held))
    toast(request, words, None if is_limit else reverse("undo", args=[batch.change_set]))


def undo_of_edit(memory: Memory) -> str:
    """Return where the newest version of a memory is undone."""
    return f"{reverse('memories:revert', args=[memory.pk, memory.version - 1])}?version={memory.version}"


def deleted_label(count: int) -> str:
    """Return what a delete did."""
    done = ngettext("Deleted %(number)s memory.", "Deleted %(number)s memories.", count) % {
        "number": number_label(count)
    }
    return sentences(done, restorable_label(count))


def restored_label(count: int) -> str:
    """Return what a restore did."""
    return ngettext("Restored %(number)s memory.", "Restored %(number)s memories.", count) % {
        "number": number_label(count)
    }


def held_label(count: int) -> str:
    """Return what becomes of restored memories that the guard refuses."""
    words = ngettext(
        "%(number)s waits under Held texts: no agent reads it until an operator has released it.",
        "%(number)s wait under Held texts: no agent reads them until an operator has released them.",
        count,
    )
    return words % {"number": number_label(count)}


def show_held(request: PageRequest, memory: Memory) -> HttpResponse:
    """Say that a text waits, and lead to it."""
    toast(request, _("Stored, but held: no agent reads it until an operator has released it."))
    return see_other("held:one", find_open_holds(MEMORY_KIND, [memory.pk])[memory.pk].pk)


def kept_in_trash_label(count: int) -> str:
    """Return why some of what matched stays in the trash."""
    words = ngettext(
        "%(number)s stays in the trash: only an operator can restore it.",
        "%(number)s stay in the trash: only an operator can restore them.",
        count,
    )
    return words % {"number": number_label(count)}


def hard_label(count: int) -> str:
    """Return why some of what was chosen is not deleted."""
    words = ngettext(
        "%(number)s hard constraint was left out: delete it on its own page.",
        "%(number)s hard constraints were left out: delete each on its own page.",
        count,
    )
    return words % {"number": number_label(count)}


def undo_label(action: str, count: int) -> str:
    """Return how a delete, a restore or an edit is undone, before it is done."""
    if action == "edit":
        return load_page_acts()["memories:edit"].text
    return restorable_label(count) if action == "delete" else _("What is restored can be deleted again.")


def question_label(action: str, count: int) -> str:
    """Return the heading of the page that asks for a reason."""
    if action == "delete":
        title = ngettext("Delete %(number)s memory?", "Delete %(number)s memories?", count)
    else:
        title = ngettext("Restore %(number)s memory?", "Restore %(number)s memories?", count)
    return title % {"number": number_label(count)}
