"""Lists of owned rows: the choice of an owner, the line in the access log, and whose rows a page shows.

    FACTS = OwnedList(spec=ListSpec(...), act=Act.FACTS_READ, kind="facts", rows=list_facts, ...)

    fact_list = FACTS.as_page()

`as_page` is a whole page for a list that needs nothing else; views that show more call `load`.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpResponse, QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _

from minara_site.access.access_log import log_access
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.access.principal import Principal
from minara_site.kernel.counts import count_tabs
from minara_site.kernel.ownership import EVERYBODY, Owner
from minara_site.shell.owners import owner_filter
from minara_site.shell.pages import Page, PageRequest, page
from minara_site.web.filters import Filter, Rows, Text, changed_query
from minara_site.web.lists import ListPage, ListSpec, load_page, render_list

Shape = Callable[[Sequence[Any], PageRequest], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class OwnedList:
    """A list of owned rows. `kind` is what the access log calls them; `filters` depend on the owner or the request.

    `shape` makes rows of the list out of stored ones; `tabs` are the rows behind each tab; `own` and `of` title the
    page of one's own rows and of another owner's (`%(owner)s`). Rows are read `within` a limit. `begins_with_all`
    opens it for operators with the rows of all owners.
    """

    spec: ListSpec
    act: Act
    kind: str
    rows: Callable[[Owner], Rows]
    own: Text
    of: Text
    shape: Shape = lambda rows, request: rows
    filters: Callable[[PageRequest, Owner], Sequence[Filter]] = lambda request, owner: ()
    tabs: Callable[[Owner], Mapping[str, Rows]] | None = None
    within: Callable[[PageRequest], AbstractContextManager[None]] = lambda request: nullcontext()
    begins_with_all: bool = False
    template: str = "parts/list_page.html"

    def read(self, principal: Principal, params: QueryDict, request: PageRequest) -> tuple[ListSpec, Owner]:
        """Return the list that these parameters ask for as this reader gets it, and whose it is. Raises NotFound."""
        default = EVERYBODY if self.begins_with_all and principal.reads_others(self.act) else ""
        asked = params.get("owner") or default
        owner = principal.reads(self.act, asked)
        filters = (*self.filters(request, owner), *self.spec.filters)
        if principal.reads_others(self.act):
            choice = owner_filter(principal.owner, owner, asked)
            filters = (*filters, replace(choice, default=default or choice.default))
        return replace(self.spec, filters=filters), owner

    def load(self, request: PageRequest) -> tuple[ListPage, Owner]:
        """Return the page that the address asks for, its rows shaped and logged, and whose it is. Raises NotFound."""
        spec, owner = self.read(request.principal, request.GET, request)
        with self.within(request):
            found = load_page(spec, request, self.rows(owner).select_related("owner"))
        owner_ids = {row.owner_id for row in found.rows}
        log_access(principal=request.principal, owner_ids=owner_ids, kind=self.kind, now=timezone.now())
        found = found.with_rows(self.shape(found.rows, request))
        return (found.with_tab_counts(count_tabs(self.tabs(owner))) if self.tabs else found), owner

    def context(self, request: PageRequest, owner: Owner) -> dict[str, Any]:
        """Return title and owner of the page; `whose` keeps the owner in links to the lists beside it."""
        is_own = owner == request.principal.owner
        name, label = (
            (owner.username, owner.get_short_name()) if isinstance(owner, User) else (EVERYBODY, _("everybody"))
        )
        return {
            "title": self.own if is_own else str(self.of) % {"owner": label},
            "owner": owner,
            "is_shared": name == EVERYBODY,
            "whose": changed_query(QueryDict(), owner=None if is_own else name),
        }

    def answer(self, request: PageRequest, **more: Any) -> HttpResponse:
        """Answer the page with what a view adds to its context."""
        found, owner = self.load(request)
        return render_list(request, self.template, found, {**self.context(request, owner), **more})

    def as_page(self) -> Page:
        """Return the view of a list that needs nothing else."""
        return page(self.act)(self.answer)
