"""`/profile/changes/`: what is new about an owner since their last visit, or out of one run."""

import json
from datetime import timedelta
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.pages import PageRequest, page
from minara_site.web.responses import render_page
from profile_app.portrait.views.owner import open_owner
from profile_app.rebuild.news import load_news
from profile_app.rebuild.pages.changes import shape_group
from profile_app.rebuild.services.visits import visit

EARLIER = timedelta(days=30)


@page(Act.PROFILE_READ)
def changes_page(request: PageRequest) -> HttpResponse:
    """Show what is new; `?show=all` goes back 30 days, `?run=` shows one run with the figures of its question."""
    owner, now = open_owner(request), timezone.now()
    is_own, run_id = owner == request.user, parse_number(request.GET.get("run", ""))
    if run_id is None and request.GET.get("run"):
        raise NotFound(_("There is no such run."))
    since, shows_all = None, not is_own or request.GET.get("show") == "all"
    if run_id is None:
        since = now - EARLIER if shows_all else visit(owner, now=now)
    groups, is_more = load_news(owner, since=since, run_id=run_id)
    if run_id is not None and not (groups and groups[0].run):
        raise NotFound(_("There is no such run."))
    shown = [shape_group(group, owner=owner, reader=request.user) for group in groups]
    context: dict[str, Any] = {
        "title": _("Changes"),
        "groups": shown,
        "is_more": is_more,
        "since": since,
        "shows_all": shows_all,
        "is_own": is_own,
        "owner_name": "" if is_own else owner.username,
        "here": request.get_full_path(),
    }
    if run_id is not None and (run := groups[0].run):
        figures = json.dumps(run.read, ensure_ascii=False, indent=2)
        context |= {"run": run, "figures": figures if is_own else mask(figures)}
    return render_page(request, "profile_app/rebuild/changes.html", context)
