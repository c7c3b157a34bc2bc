"""`/ops/embeddings/`: who embeds, where the vectors stand, and the backfill. Source: screens 5."""

from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy

from memory_app.embeddings import services
from memory_app.embeddings.selectors import Overview, load_overview
from memory_app.memories.core import EmbeddingState
from minara_site.access.actors import name_actors
from minara_site.access.policy import Act
from minara_site.kernel.errors import Conflict
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.selectors import is_worker_seen
from minara_site.shell.pages import PageRequest, page
from minara_site.web.charts import segmented_bar
from minara_site.web.filters import Text
from minara_site.web.lists.page import total_label
from minara_site.web.responses import render_page, see_other, toast

STATES = {
    EmbeddingState.EMBEDDED: (gettext_lazy("Embedded"), gettext_lazy("Found by meaning and by words.")),
    EmbeddingState.PENDING: (
        pgettext_lazy("embedding", "Pending"),
        gettext_lazy("Waits for the next run; found by words until then."),
    ),
    EmbeddingState.FAILED: (
        gettext_lazy("Failed"),
        gettext_lazy("The provider did not answer or refused the text. A backfill tries again."),
    ),
    EmbeddingState.SKIPPED: (
        gettext_lazy("Skipped"),
        gettext_lazy("Too short to have a meaning, or held by the guard."),
    ),
}


@page(Act.EMBEDDINGS)
def embeddings(request: PageRequest) -> HttpResponse:
    """Show the provider, the states and the last runs; without a provider, what to set."""
    return show(request, {})


@page(Act.EMBEDDINGS, "POST")
def backfill(request: PageRequest) -> HttpResponse:
    """Start a backfill; without a provider, say so in place."""
    try:
        _run, is_new = services.start_backfill(principal=request.principal, now=timezone.now())
    except Conflict as conflict:
        return show(request, {"refusal": conflict.detail}, status=HTTPStatus.CONFLICT)
    toast(
        request,
        _("The backfill waits for a worker.") if is_new else _("A backfill is running already."),
    )
    return see_other("embeddings:page")


def show(
    request: PageRequest,
    context: dict[str, Any],
    *,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Answer the page."""
    found = load_overview()
    names = name_actors({run.requested_by for run in found.runs}, reader=request.user)
    parts = [(str(words), found.states[state].number) for state, (words, _hint) in STATES.items()]
    context |= {
        "title": _("Semantic search"),
        "found": found,
        "bar": segmented_bar(parts, _("Memories and decisions by the state of their vector")),
        "states": [shown_state(found, state, words, hint) for state, (words, hint) in STATES.items()],
        "outdated": total_label(found.states["outdated"]),
        "runs": [(run, requester_label(run, names)) for run in found.runs],
        "has_worker": is_worker_seen(now=timezone.now()),
    }
    return render_page(
        request,
        "memory_app/embeddings/page.html",
        context,
        status=status,
    )


def shown_state(
    found: Overview,
    state: EmbeddingState,
    words: Text,
    hint: Text,
) -> tuple[Text, Text, str, str]:
    """Return a state with how many texts are in it, and how many of them are decisions, empty when none is."""
    decisions = found.decisions[state]
    return words, hint, total_label(found.states[state]), total_label(decisions) if decisions.number else ""


def requester_label(run: JobRun, names: dict[str, str]) -> str:
    """Return in words who asked for a run."""
    match run.requested_by:
        case "schedule":
            return _("the schedule")
        case services.ON_WRITE:
            return _("what was written")
    return names[run.requested_by]
