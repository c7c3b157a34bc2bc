"""`/prompt/`: what the agent sees, byte for byte."""

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory_app.snapshot.core import LeftOut
from memory_app.snapshot.selectors import count_writes_since
from minara_site.access.access_log import log_opened
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.ownership import Everyone
from minara_site.shell.pages import PageRequest, page
from minara_site.web.filters import changed_query
from minara_site.web.lists import total_label
from minara_site.web.responses import render_page
from profile_app.portrait.core.profile import SETTINGS
from profile_app.prompt.core import Prompt
from profile_app.prompt.models import SessionSnapshot
from profile_app.prompt.pages import bar_of, compare, left_out_rows
from profile_app.prompt.pages.parts import part_groups
from profile_app.prompt.pages.text import count_defused, parts_of
from profile_app.prompt.selectors import (
    find_current,
    find_previous,
    get_frozen_prompt,
    get_snapshot,
    list_newest_snapshots,
    load_prompt,
    masked_prompt,
)
from profile_app.rebuild.pages.profile import shape_switches
from profile_app.workspace.core.identity import AgentIdentity
from profile_app.workspace.selectors import load_identity, load_problems

RECENT_SESSIONS = 10
WORDS = {"on": True, "off": False}


class Show(StrEnum):
    """What the page shows."""

    SESSION = "session"
    DIFF = "diff"
    NOW = "now"


@dataclass(frozen=True)
class Reading:
    """What the URL asks for: whose prompt, of which session (None when there is none), in which way, which switches.

    `tried` are the flags of the profile that are tried otherwise; nothing of it is stored.
    """

    owner: User
    snapshot: SessionSnapshot | None
    show: Show
    tried: Mapping[str, bool]
    is_own: bool

    def shown(self, prompt: Prompt) -> Prompt:
        """Return a prompt as this reader may see it."""
        return prompt if self.is_own else masked_prompt(prompt)


@page(Act.PROMPT_READ)
def prompt_page(request: PageRequest) -> HttpResponse:
    """Show the prompt of a session, what changed against the one before, or what a session would be given now."""
    reading = read_url(request)
    record_access(request, reading)
    shown = now_context(reading) if reading.snapshot is None else session_context(reading, reading.snapshot)
    return render_page(
        request,
        "profile_app/prompt/page.html",
        {**frame_context(request, reading), **shown},
    )


@page(Act.PROMPT_READ)
def prompt_text(request: PageRequest) -> HttpResponse:
    """Answer the prompt as plain text: to its owner exactly its bytes. A wiped one is 410."""
    reading = read_url(request)
    record_access(request, reading)
    if reading.show is Show.NOW or reading.snapshot is None:
        prompt = load_prompt(
            owner=reading.owner,
            now=timezone.now(),
            tried=reading.tried,
        ).prompt
    else:
        prompt = get_frozen_prompt(owner=reading.owner, session_id=reading.snapshot.pk).prompt
    return HttpResponse(reading.shown(prompt).text, content_type="text/plain; charset=utf-8")


def read_url(request: PageRequest) -> Reading:
    """Return what the URL asks for; without a session id, the session that runs. Raises NotFound."""
    owner = request.principal.reads(Act.PROMPT_READ, request.GET.get("owner"))
    if isinstance(owner, Everyone):
        raise NotFound(_("Name one owner: a prompt belongs to one person."))
    session_id = request.GET.get("session")
    snapshot = get_snapshot(owner=owner, session_id=session_id) if session_id else find_current(owner=owner)
    asked = request.GET.get("show", Show.SESSION)
    show = Show(asked) if asked in set(Show) else Show.SESSION
    tried = {flag: WORDS[word] for flag in SETTINGS if (word := request.GET.get(flag)) in WORDS}
    shown = show if snapshot else Show.NOW
    return Reading(owner, snapshot, shown, tried, is_own=owner == request.user)  # type: ignore[arg-type]


def record_access(request: PageRequest, reading: Reading) -> None:
    """Keep that an operator looked at somebody else's prompt."""
    object_id = reading.snapshot.pk if reading.snapshot and reading.show is not Show.NOW else ""
    log_opened(
        request.principal,
        reading.owner.pk,
        kind="prompt",
        object_id=object_id,
        now=timezone.now(),
    )


def frame_context(request: PageRequest, reading: Reading) -> dict[str, Any]:
    """Return what every way of showing has: whose prompt, the tabs, the newest sessions."""
    sessions = list_newest_snapshots(owner=reading.owner, limit=RECENT_SESSIONS)
    if not reading.is_own:
        for each in filter(None, (*sessions, reading.snapshot)):
            each.session.title = mask(each.session.title)  # for this page, and not to be stored
    identity = load_identity(reading.owner)
    untried = dict.fromkeys(SETTINGS)
    links = {show.value: f"?{changed_query(request.GET, show=show, **untried).removeprefix('?')}" for show in Show}
    return {
        "title": _("What the agent sees"),
        "owner_name": "" if reading.is_own else reading.owner.username,
        "show": reading.show,
        "links": links,
        "text_url": reverse("prompt:text") + changed_query(request.GET),
        "sessions": sessions,
        "session_id": request.GET.get("session", ""),
        "identity": identity if reading.is_own else AgentIdentity(*map(mask, astuple(identity))),
        "problems": load_problems(reading.owner),
        "is_gated": settings.MINARA.chat_intent_gating_enabled,
    }


def session_context(reading: Reading, snapshot: SessionSnapshot) -> dict[str, Any]:
    """Return a session's prompt with what changed before it and what waits behind it."""
    previous, shown = None if reading.show is Show.NOW else find_previous(snapshot), reading.shown
    waiting = count_writes_since(owner_id=snapshot.session.owner_id, since=snapshot.frozen_at)
    can_compare = previous is not None and not (previous.is_wiped or snapshot.is_wiped)
    return {
        **(now_context(reading) if reading.show is Show.NOW else frozen_context(reading, snapshot)),
        "snapshot": snapshot,
        "previous": previous,
        "comparison": compare(shown(previous.prompt), shown(snapshot.prompt)) if previous and can_compare else None,
        "waiting": total_label(waiting),
        "waiting_count": waiting.number,
    }


def frozen_context(reading: Reading, snapshot: SessionSnapshot) -> dict[str, Any]:
    """Return what a session was given; once wiped, its sizes and hash without the text."""
    shown = prompt_context(snapshot.prompt, snapshot.what_was_left_out, reading)
    if snapshot.is_wiped:
        shown |= {
            "parts": [],
            "sha256": snapshot.sha256,
            "size_bytes": snapshot.size_bytes,
        }
    return shown


def now_context(reading: Reading) -> dict[str, Any]:
    """Return what a session would be given now, with the switches that can be tried. It claims nothing."""
    assembled = load_prompt(
        owner=reading.owner,
        now=timezone.now(),
        tried=reading.tried,
    )
    return {
        **prompt_context(assembled.prompt, assembled.left_out, reading),
        "switches": shape_switches(assembled.switches, assembled.costs),
        "is_tried": assembled.switches != assembled.own_switches,
    }


def prompt_context(
    prompt: Prompt,
    left_out: Iterable[LeftOut],
    reading: Reading,
) -> dict[str, Any]:
    """Return a prompt section by section, what it costs and why, and what it leaves out."""
    return {
        "parts": parts_of(reading.shown(prompt)),
        "groups": part_groups(prompt, is_own=reading.is_own),
        "has_rows": any(section.rows for section in prompt.sections),
        "defused": count_defused(prompt),
        "dropped": prompt.dropped,
        "bar": bar_of(prompt),
        "tokens": prompt.tokens,
        "sha256": prompt.sha256,
        "size_bytes": prompt.size_bytes,
        "left_out": left_out_rows(left_out),
    }
