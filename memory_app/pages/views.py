"""`/assets/`: the assets that an owner's memories are about, and the compiled page of each, as an agent reads it."""

import hashlib
from enum import StrEnum
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from memory_app.memories.core.destinations import Destination
from memory_app.memories.unconfirmed import find_unconfirmed, find_unconfirmed_memories
from memory_app.pages.core import CompiledPage, Heading, RowKind, find_asset
from memory_app.pages.selectors import PageScope, list_assets, load_page, open_asset
from minara_site.access.access_log import log_access, log_opened
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.shell.owners import open_owner
from minara_site.shell.pages import PageRequest, page
from minara_site.web.filters import changed_query
from minara_site.web.market_labels import CLASS_LABELS, GROUP_LABELS
from minara_site.web.responses import render_page

MAX_CHARS = 100

HEADING_WORDS = {
    Heading.COMPILED_TRUTH: gettext_lazy("What is known"),
    Heading.TIMELINE: gettext_lazy("Timeline"),
}


class Show(StrEnum):
    """What the page of an asset shows."""

    PARTS = "parts"
    AGENT = "agent"


@page(Act.COMPILED_READ)
def asset_list(request: PageRequest) -> HttpResponse:
    """List the assets that memories are about; `?asset=` opens one by any of its names."""
    owner = open_owner(request.principal.reads(Act.COMPILED_READ, request.GET.get("owner")))
    written = request.GET.get("asset", "").strip()[:MAX_CHARS]
    asset = find_asset(written)
    if asset:
        return HttpResponseRedirect(address_of(asset.symbol, request))
    log_access(
        principal=request.principal,
        owner_ids=[owner.pk],
        kind="compiled",
        now=timezone.now(),
    )
    groups = [
        (
            GROUP_LABELS[group],
            [(known, CLASS_LABELS[known.asset.asset_class]) for known in assets],
        )
        for group, assets in list_assets(owner=owner).items()
    ]
    status = HTTPStatus.NOT_FOUND if written else HTTPStatus.OK
    context = {
        "groups": groups,
        "written": written,
        **frame_context(request, owner, _("Assets")),
    }
    return render_page(request, "memory_app/pages/list.html", context, status=status)


@page(Act.COMPILED_READ)
def asset_page(request: PageRequest, asset: str) -> HttpResponse:
    """Show what is known about an asset, part by part or as the agent reads it; other spellings lead to its symbol."""
    owner = open_owner(request.principal.reads(Act.COMPILED_READ, request.GET.get("owner")))
    found, now = open_asset(asset), timezone.now()
    if found.symbol != asset:
        return HttpResponseRedirect(address_of(found.symbol, request))
    log_opened(
        request.principal,
        owner.pk,
        kind="compiled",
        object_id=found.symbol,
        now=now,
    )
    asked = PageScope(
        owner,
        found,
        hard_constraints=request.GET.get("hard_constraints") != "0",
    )
    compiled = load_page(asked, reader=request.user, now=now)
    context = frame_context(request, owner, found.symbol) | page_context(request, asked, compiled)
    return render_page(request, "memory_app/pages/one.html", context)


def frame_context(request: PageRequest, owner: User, title: str) -> dict[str, Any]:
    """Return what both pages say: whose knowledge it is."""
    is_own = owner == request.user
    return {
        "title": title,
        "is_own": is_own,
        "owner_name": "" if is_own else owner.username,
    }


def page_context(
    request: PageRequest,
    asked: PageScope,
    compiled: CompiledPage,
) -> dict[str, Any]:
    """Return a compiled page for the template."""
    is_agents = request.GET.get("show") == Show.AGENT
    doubts = {} if is_agents else find_unconfirmed_rows(compiled, owner=asked.owner)
    size = compiled.markdown.encode()
    return {
        "compiled": compiled,
        "class_words": CLASS_LABELS[compiled.asset.asset_class],
        "group_words": GROUP_LABELS[compiled.asset.asset_class.group],
        "parts": [
            (
                HEADING_WORDS[section.heading],
                [
                    (
                        entry,
                        doubts.get((entry.row, entry.row_id), ()),
                    )
                    for entry in section.entries
                ],
            )
            for section in compiled.sections
        ],
        "show": Show.AGENT if is_agents else Show.PARTS,
        "hard_constraints": asked.hard_constraints,
        "size_bytes": len(size),
        "sha256": hashlib.sha256(size).hexdigest(),
        "api_url": request.build_absolute_uri(api_path(asked, is_own=asked.owner == request.user)),
    }


def find_unconfirmed_rows(compiled: CompiledPage, *, owner: User) -> dict[tuple[RowKind, Any], tuple[Destination, ...]]:
    """Return by entry the addresses that only an agent wrote."""
    found: dict[tuple[RowKind, Any], tuple[Destination, ...]] = {}
    for kind in RowKind:
        texts: dict[Any, str] = {each.row_id: each.text for each in compiled.entries if each.row is kind}
        find = find_unconfirmed_memories if kind is RowKind.MEMORY else find_unconfirmed
        found |= {(kind, row_id): each for row_id, each in find(texts, owner=owner).items()}
    return found


def api_path(asked: PageScope, *, is_own: bool) -> str:
    """Return the call by which an agent reads this page."""
    query = {
        "hard_constraints": None if asked.hard_constraints else "0",
        "owner": None if is_own else asked.owner.username,
    }
    return f"/v1/compiled/{asked.asset.symbol}{changed_query(QueryDict(), **query)}"


def address_of(symbol: str, request: PageRequest) -> str:
    """Return the page of an asset, with the rest of this address."""
    return reverse("pages:one", args=[symbol]) + changed_query(request.GET, asset=None)
