"""What a memory labelled as a hard constraint asks before it is changed or deleted, and proposing the preference."""

from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from memory_app.memories.forms import ReasonForm
from memory_app.memories.models import Memory
from memory_app.memories.views.notices import question_label, undo_label
from minara_site.kernel.guard.masking import masked_for
from minara_site.shell.pages import PageRequest
from minara_site.web.responses import render_page, see_other, wants_fragment

SURE = "sure"
NOT_CARRIED = (SURE, "csrfmiddlewaretoken", "reason")


def must_ask(request: PageRequest, memory: Memory) -> bool:
    """Say whether this is a hard constraint, and nobody has said yet that the change or deletion is meant."""
    is_sure = "1" in (request.POST.get(SURE), request.GET.get(SURE))
    return memory.is_hard and memory.deleted_at is None and not is_sure


def ask_first(
    request: PageRequest,
    memory: Memory,
    action: str,
    form: ReasonForm | None = None,
) -> HttpResponse:
    """Answer the page that asks, which carries along what was sent; `form` asks for a reason, `action` is the url's.

    To HTMX it sends the browser there.
    """
    if wants_fragment(request):
        return see_other(request.path)
    is_hard = memory.is_hard and action != "restore"
    context: dict[str, Any] = {
        "title": hard_question(action) if is_hard else question_label(action, 1),
        "memory": masked_for(request.principal.owner, memory),
        "form": form,
        "action": action,
        "is_hard": is_hard,
        "carried": [(name, value) for name, value in request.POST.items() if name not in NOT_CARRIED],
        "undo": undo_label(action, 1),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form and form.errors else HTTPStatus.OK
    return render_page(
        request,
        "memory_app/memories/remove.html",
        context,
        status=status,
    )


def hard_question(action: str) -> str:
    """Return the heading of the page that asks."""
    return _("Delete this hard constraint?") if action == "delete" else _("Change this hard constraint?")
