"""`/conversations/<id>/`: the turns of a session."""

from django.http import HttpResponse
from django.utils import timezone

from minara_site.access.access_log import log_opened
from minara_site.access.policy import Act
from minara_site.kernel.conversations.selectors import get_session
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.pages import PageRequest, page
from minara_site.web.responses import render_page
from profile_app.conversations.pages import page_context


@page(Act.PROMPT_READ)
def conversation_page(request: PageRequest, session_id: str) -> HttpResponse:
    """Show the turns of a session; `?turn=` opens the page that has it."""
    principal = request.principal
    session = get_session(owner=principal.reaches(Act.PROMPT_READ), session_id=session_id)
    log_opened(principal, session.owner_id, kind="conversation", object_id=session_id, now=timezone.now())
    context = page_context(session, request.user, turn=parse_number(request.GET.get("turn", "")) or 1)
    return render_page(request, "profile_app/conversations/page.html", context)
