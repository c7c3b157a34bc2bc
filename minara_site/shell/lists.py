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
from minara_site.kernel.errors import or_not_found
from minara_site.kernel.ownership import ALL_OWNERS, EVERYONE, Owner
from minara_site.kernel.plain_text import parse_number
from minara_site.shell.owners import owner_filter
from minara_site.shell.pages import Page, PageRequest, page
from minara_site.web.filters import Filter, Rows, Text, changed_query
from minara_site.web.lists import Column, ListPage, ListSpec, load_page, render_list

Shape = Callable[[Sequence[Any], PageRequest], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class OwnedList:
    """A list of owned rows. `kind` is what the access log calls them; `filters` depend on the owner or the address.

    `shape` makes rows of the list out of stored ones; `tabs` are the rows behind each tab; `own` and `of` title the
    page of one's own rows and of another owner's (`%(owner)s`). Rows are read `within` a limit; `read_by_view` are
    parameters of the address that the view reads itself. `begins_with_all` opens it for operators with the rows of all
    owners; then `owner_column` comes behind the first one.
    """

    spec: ListSpec
    act: Act
    kind: str
    rows: Callable[[Owner], Rows]
    own: Text
    of: Text
    shape: Shape = lambda rows, request: rows
    filters: Callable[[QueryDict, Owner], Sequence[Filter]] = lambda params, owner: ()
    tabs: Callable[[Owner], Mapping[str, Rows]] | None = None
    within: Callable[[QueryDict], AbstractContextManager[None]] = lambda params: nullcontext()
    read_by_view: Sequence[str] = ()
    begins_with_all: bool = False
    owner_column: Column | None = None
    template: str = "parts/list_page.html"

    def read(self, principal: Principal, params: QueryDict) -> tuple[ListSpec, Owner]:
        """Return the list that these parameters ask for as this reader gets it, and whose it is. Raises NotFound."""
        default = ALL_OWNERS if self.begins_with_all and principal.reads_others(self.act) else ""
        asked = params.get("owner") or default
        owner = principal.reads(self.act, asked)
        filters = (*self.filters(params, owner), *self.spec.filters)
        if principal.reads_others(self.act):
            choice = owner_filter(principal.owner, owner, asked)
            filters = (*filters, replace(choice, default=default or choice.default))
        bulk = [each for each in self.spec.bulk if not each.act or principal.may(Act(each.act))]
        columns = self.spec.columns
        if self.owner_column and owner is EVERYONE:
            columns = (columns[0], self.owner_column, *columns[1:])
        return replace(self.spec, filters=filters, bulk=bulk, columns=columns), owner

    def load(
        self,
        request: PageRequest,
        *,
        is_logged: bool = True,
    ) -> tuple[ListPage, Owner]:
        """Return the page that the address asks for, its rows shaped and logged, and whose it is. Raises NotFound."""
        spec, owner = self.read(request.principal, request.GET)
        rows, ignore = self.rows(owner).select_related("owner"), ("owner", *self.read_by_view)
        with self.within(request.GET):
            found = load_page(spec, request, rows, ignore=ignore)
        if is_logged:
            owner_ids = {row.owner_id for row in found.rows} - {None}
            log_access(
                principal=request.principal,
                owner_ids=owner_ids,
                kind=self.kind,
                now=timezone.now(),
            )
        found = found.with_rows(self.shape(found.rows, request))
        return found.with_tab_counts(self.count_tabs(owner)), owner

    def count_tabs(self, owner: Owner) -> dict[str, int]:
        """Return how many rows are behind each tab. One query, none without tabs."""
        return count_tabs(self.tabs(owner)) if self.tabs else {}

    def chosen_ids(self, request: PageRequest) -> list[int]:
        """Return the ids that a bulk form chose; checked rows come as they are, for the service to judge.

        Raises Invalid for none or too many, and NotFound.
        """
        if not request.POST.get("all"):
            return [parse_id(text) for text in request.POST.getlist("ids")]
        params = QueryDict(request.POST.get("filter", ""))
        spec, owner = self.read(request.principal, params)
        with self.within(params):
            return spec.matching_ids(self.rows(owner), params)

    def context(self, request: PageRequest, owner: Owner) -> dict[str, Any]:
        """Return title and owner of the page; `whose` keeps the owner in links to the lists beside it.

        So does `named` in links to lists that begin with the rows of all owners.
        """
        is_own = owner == request.principal.owner
        name, label = (
            (owner.username, owner.get_short_name()) if isinstance(owner, User) else (ALL_OWNERS, _("everybody"))
        )
        return {
            "title": self.own if is_own else str(self.of) % {"owner": label},
            "owner": owner,
            "is_shared": name == ALL_OWNERS,
            "whose": changed_query(QueryDict(), owner=None if is_own else name),
            "named": changed_query(
                QueryDict(),
                owner=name if request.principal.reads_others(self.act) else None,
            ),
        }

    def answer(self, request: PageRequest, **more: Any) -> HttpResponse:
        """Answer the page with what a view adds to its context."""
        found, owner = self.load(request)
        return render_list(
            request,
            self.template,
            found,
            {**self.context(request, owner), **more},
        )

    def as_page(self) -> Page:
        """Return the view of a list that needs nothing else."""
        return page(self.act)(self.answer)


def parse_id(text: str) -> int:
    """Return the id of a checked row. Raises NotFound for what can be none."""
    return or_not_found(parse_number(text), _("One of the chosen rows does not exist."))
