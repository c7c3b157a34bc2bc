"""One table: a bounded list without the texts of owners, and one row, whose owner can read that it was opened."""

from functools import reduce
from typing import Any

from django.contrib.admin import ModelAdmin
from django.core.paginator import Paginator
from django.db.models import ForeignKey, JSONField, Model, QuerySet, TextField
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.functional import cached_property

from memory_app.user_profile.models import UserProfileEntry, UserProfileRevision
from minara_site.access.access_log import log_opened
from minara_site.access.models import User
from minara_site.access.policy import Act
from minara_site.kernel.core.redact import redact
from minara_site.kernel.counts import count_rows
from minara_site.kernel.guard.masking import mask, mask_value

NEVER_SHOWN = frozenset({"password", "secret_sha256", "token_sha256"})  # in any table
HIDDEN = {
    "idempotent_calls": {"request_sha256", "headers", "body"},  # answers hold what their caller may see alone
    "stored_parts": {"content"},
    "search_document": {"body"},  # texts cut to words, in which no secret can be told
}
UNLISTED = {("sessions", "title")}  # a text of its owner, however short
SHOWN_IN_LIST = 8
MAX_COUNTED = 10_000
OWNER_PATHS = ("owner_id", "user_id", "memory.owner_id", "session.owner_id")


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts a page of a large table without reading it; what lies behind the bound is not paged through."""

    @cached_property
    def count(self) -> int:
        """Return how many rows there are, at most MAX_COUNTED."""
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        return count_rows(rows, MAX_COUNTED).number


def open_fields(model: type[Model]) -> list[Any]:
    """Return the columns of a table without its secrets."""
    hidden = NEVER_SHOWN | HIDDEN.get(model._meta.db_table, set())  # noqa: SLF001 - Django's public Meta API
    return [field for field in model._meta.fields if field.name not in hidden]  # noqa: SLF001


def short_fields(model: type[Model]) -> list[Any]:
    """Return the columns that fit a list; texts of owners do not stand there."""
    table = model._meta.db_table  # noqa: SLF001
    fields = [field for field in open_fields(model) if (table, field.name) not in UNLISTED]
    return [field for field in fields if not isinstance(field, TextField | JSONField)][:SHOWN_IN_LIST]


def owner_of(row: Model) -> int | None:
    """Return the id of whose row this is, None for one of the instance."""
    if isinstance(row, User):
        return int(row.pk)
    for way in OWNER_PATHS:
        try:
            found = reduce(getattr, way.split("."), row)
        except AttributeError:
            continue
        return found if isinstance(found, int) else None
    return None


def mask_row(row: Model) -> None:
    """Mask the secrets in the texts of a row that is shown and not stored; the key of a profile tells some of them."""
    key = row.key if isinstance(row, UserProfileEntry | UserProfileRevision) else None
    for field in open_fields(type(row)):
        said = getattr(row, field.attname)
        if isinstance(field, JSONField):
            setattr(row, field.attname, redact(said))
        elif isinstance(said, str) and not field.primary_key:
            setattr(
                row,
                field.attname,
                mask(said) if key is None else mask_value(key, said),
            )


class ReadOnlyAdmin(ModelAdmin):  # type: ignore[type-arg]
    """A table that can be read."""

    actions = None
    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = 50
    paginator = BoundedPaginator
    ordering = ("-pk",)
    change_form_template = "console/tables/row.html"

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[Any]:
        return [field.name for field in open_fields(self.model)]

    def get_readonly_fields(
        self,
        request: HttpRequest,
        obj: Model | None = None,
    ) -> list[Any]:
        return self.get_fields(request, obj)

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return [field.name for field in short_fields(self.model)]

    def get_list_select_related(self, request: HttpRequest) -> list[str]:
        """Return the rows that the list names beside its own."""
        return [field.name for field in short_fields(self.model) if isinstance(field, ForeignKey)]

    def get_urls(self) -> list[URLPattern]:
        name, guard = f"{self.opts.app_label}_{self.opts.model_name}", self.admin_site.admin_view
        return [
            path("", guard(self.changelist_view), name=f"{name}_changelist"),
            path(
                "<path:object_id>/change/",
                guard(self.change_view),
                name=f"{name}_change",
            ),
        ]

    def lookup_allowed(
        self,
        lookup: str,
        value: str,
        request: HttpRequest | None = None,
    ) -> bool:
        """Refuse every condition in an address: `?password__startswith=` would tell a secret letter by letter."""
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(
        self,
        request: HttpRequest,
        obj: Model | None = None,
    ) -> bool:
        return request.principal.may(Act.TABLES)  # type: ignore[attr-defined]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(
        self,
        request: HttpRequest,
        obj: Model | None = None,
    ) -> bool:
        return False

    def has_delete_permission(
        self,
        request: HttpRequest,
        obj: Model | None = None,
    ) -> bool:
        return False

    def render_change_form(
        self,
        request: HttpRequest,
        context: Any,
        *args: Any,
        **kwargs: Any,
    ) -> HttpResponse:
        """Show a row, of somebody else without secrets, and write down for its owner that it was opened."""
        row = kwargs["obj"]
        owner_id, principal = owner_of(row), request.principal  # type: ignore[attr-defined]
        if owner_id is not None:
            place = f"{self.opts.db_table}:{row.pk}"[:64]
            log_opened(
                principal,
                owner_id,
                kind="tables",
                object_id=place,
                now=timezone.now(),
            )
        if owner_id != principal.owner.pk:
            mask_row(row)
        return super().render_change_form(request, context, *args, **kwargs)
