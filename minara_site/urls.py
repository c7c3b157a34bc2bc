"""Every address of the console, app by app."""

from django.conf import settings
from django.urls import URLPattern, URLResolver, include, path

from minara_site.access.policy import Act
from minara_site.agent.mcp.views import endpoint as mcp_endpoint
from minara_site.api import api
from minara_site.kernel.health import healthz, readyz
from minara_site.shell.pages import page
from minara_site.shell.undo import undo

handler400 = "minara_site.shell.errors.bad_request"
handler403 = "minara_site.shell.errors.permission_denied"
handler404 = "minara_site.shell.errors.not_found"
handler500 = "minara_site.shell.errors.server_error"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("minara_site.console.urls")),
    path("", include("minara_site.console.account.urls")),
    path("", include("minara_site.shell.urls")),
    path("", include("memory_app.urls")),
    path("", include("learning_app.urls")),
    path("", include("profile_app.urls")),
    path("undo/<int:change_set_id>/", undo, name="undo"),
    path("v1/", api.urls),
    path("mcp", mcp_endpoint, name="mcp"),
    path("healthz", page(Act.PROBE)(healthz), name="healthz"),
    path("readyz", page(Act.PROBE)(readyz), name="readyz"),
]
if settings.MINARA.minara_admin:
    urlpatterns.append(path("", include("minara_site.console.tables.urls")))
