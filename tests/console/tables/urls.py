"""The project's addresses with the tables beside them, as MINARA_ADMIN mounts them."""

from django.urls import include, path

from minara_site.urls import handler400, handler403, handler404, handler500, urlpatterns as project_urls

__all__ = ["handler400", "handler403", "handler404", "handler500"]
urlpatterns = [*project_urls, path("", include("minara_site.console.tables.urls"))]
