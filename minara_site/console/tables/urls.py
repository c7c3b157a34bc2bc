"""Addresses of the tables, below `/admin/`; imported only where MINARA_ADMIN is on."""

from django.urls import URLPattern, URLResolver, path

from minara_site.console.tables.site import make_site

urlpatterns: list[URLPattern | URLResolver] = [path("admin/", make_site().urls)]
