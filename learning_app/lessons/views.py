"""`/lessons/`: what models wrote out of closed trades, revision by revision, and whether it helped. It only reads."""

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from learning_app.lessons.core.reflection import read_slots
from learning_app.lessons.pages.comparison import comparison_context
from learning_app.lessons.pages.lists import NOTES
from learning_app.lessons.selectors import list_notes, load_revisions, load_with_former
from minara_site.access.access_log import log_opened
from minara_site.access.policy import Act
from minara_site.kernel.core.diff import word_diff
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.guard.masking import masked_for
from minara_site.kernel.plain_text import storable_problem
from minara_site.shell.pages import PageRequest, page
from minara_site.web.responses import render_page

note_list = NOTES.as_page()


@page(Act.LESSONS_READ)
def note_page(request: PageRequest, content_hash: str) -> HttpResponse:
    """Show one revision in its five slots, what it changed, the others of its deployment, and their comparison.

    Of several deployments with these lessons the newest is shown, or that of `?deployment=`.
    """
    principal, uid = request.principal, request.GET.get("deployment", "")
    found = list_notes(owner=principal.reaches(Act.LESSONS_READ)).filter(content_hash=content_hash)
    if uid:
        found = found.none() if storable_problem(uid) else found.filter(deployment__uid=uid)
    note = or_not_found(found.order_by("-generated_at", "-pk").first(), _("There are no such lessons."))
    deployment = or_not_found(note.deployment, _("There are no such lessons."))
    log_opened(principal, note.owner_id, kind="reflection_note", object_id=content_hash, now=timezone.now())
    text, *former = [masked_for(principal.owner, each).lessons_text for each in load_with_former(note)]
    revisions = load_revisions(deployment.pk)
    context = {
        "title": _("Lessons"),
        "note": note,
        "deployment": masked_for(principal.owner, deployment),
        "is_own": note.owner_id == principal.owner.pk,
        "is_held": bool(note.held_at),
        "slots": read_slots(text),
        "changes": word_diff(former[0], text) if text and any(former) else None,
        "revisions": revisions,
        **comparison_context(deployment, revisions),
    }
    return render_page(request, "learning_app/lessons/one.html", context)
