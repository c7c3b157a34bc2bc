"""`/profile/changes/`: what is new about an owner since their last visit, or out of one run."""

import json
from datetime import timedelta

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.policy import Act
from minara_site.kernel.changes.kinds import EPOCH
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard.masking import mask
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.pages import PageRequest, page
from minara_site.web.responses import render_page
from profile_app.portrait.views.owner import open_owner
from profile_app.rebuild.pages.changes import load_groups
from profile_app.rebuild.services.visits import visit

EARLIER = timedelta(days=30)


@page(Act.PROFILE_READ)
def changes_page(request: PageRequest) -> HttpResponse:
    """Show what is new; `?show=all` goes back 30 days, `?run=` shows one run with the figures of its question."""
    owner, now = open_owner(request), timezone.now()
    is_own, run_id = owner == request.user, parse_number(request.GET.get("run", ""))
    if run_id is None and request.GET.get("run"):
        raise NotFound(_("There is no such run."))
    since, shows_all = now - EARLIER, not is_own or request.GET.get("show") == "all"
    if run_id is None and not shows_all:
        since = visit(owner, now=now) or EPOCH
    groups, is_more = load_groups(owner, request.user, since=since, run_id=run_id)
    run = groups[0]["run"] if run_id is not None else None
    figures = json.dumps(run.read, ensure_ascii=False, indent=2) if run else ""
    context = {
        "title": _("Changes"),
        "groups": groups,
        "is_more": is_more,
        "shows_all": shows_all,
        "is_own": is_own,
        "owner_name": "" if is_own else owner.username,
        "run": run,
        "figures": figures if is_own else mask(figures),
    }
    return render_page(request, "profile_app/rebuild/changes.html", context)
