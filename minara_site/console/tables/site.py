"""The admin site: our sign-in and policy in front of each view, and of Django's addresses only those that read."""

from collections.abc import Callable
from typing import Any

from django.apps import apps
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, include, path, re_path, reverse as address
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from minara_site.access.policy import Act
from minara_site.console.tables.rows import ReadOnlyAdmin
from minara_site.shell.pages import page
from minara_site.web.responses import see_other

OUR_APPS = ("access", "kernel", "memory_app", "learning_app", "profile_app", "console")


class Tables(AdminSite):
    """Every table of ours, read-only."""

    site_header = _("Tables")
    site_title = _("Minara")
    index_title = _("Every row that Minara keeps; nothing can be changed here")
    site_url = "/"
    index_template = "console/tables/index.html"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        return request.principal.may(Act.TABLES)  # type: ignore[attr-defined]

    def admin_view(
        self,
        view: Callable[..., Any],
        cacheable: bool = False,  # noqa: FBT001, FBT002 - as Django
    ) -> Any:
        """Guard a view as any page is guarded: it takes GET only."""
        return page(Act.TABLES)(view)

    def to_sign_in(self, request: HttpRequest) -> HttpResponse:
        """Send whoever asks for the admin's own sign-in to ours."""
        return see_other(f"{address('account_login')}?{urlencode({'next': address('admin:index')})}")

    def get_app_list(
        self,
        request: HttpRequest,
        app_label: str | None = None,
    ) -> list[Any]:
        """Return the apps with their tables, called as the database calls them."""
        found: list[Any] = super().get_app_list(request, app_label)
        for app in found:
            for each in app["models"]:
                each["name"] = each["model"]._meta.db_table  # noqa: SLF001 - Django's public Meta API
            app["models"].sort(key=lambda each: each["name"])
        return found

    def get_urls(self) -> list[URLResolver | URLPattern]:
        labels = "|".join(dict.fromkeys(model._meta.app_label for model in self._registry))  # noqa: SLF001 - public Meta
        return [
            path("", self.admin_view(self.index), name="index"),
            path("login/", page(Act.SIGN_IN)(self.to_sign_in), name="login"),
            path("jsi18n/", self.admin_view(self.i18n_javascript), name="jsi18n"),
            *(
                path(f"{model._meta.app_label}/{model._meta.model_name}/", include(rows.urls))  # noqa: SLF001
                for model, rows in self._registry.items()
            ),
            re_path(
                rf"^(?P<app_label>{labels})/$",
                self.admin_view(self.app_index),
                name="app_list",
            ),
        ]


def make_site() -> Tables:
    """Return the site with every model of our apps."""
    site = Tables(name="admin")
    for label in OUR_APPS:
        for model in apps.get_app_config(label).get_models():
            site.register(model, ReadOnlyAdmin)
    return site
