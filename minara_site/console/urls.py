"""Addresses of home, settings, demo and the operators' pages."""

from django.urls import include, path

from minara_site.console.demo import views as demo
from minara_site.console.home import views as home
from minara_site.console.quarantine import urls as quarantine
from minara_site.console.settings import views as settings

pages = [
    path("settings/", settings.settings, name="settings"),
    path("first-steps/again/", home.first_steps_again, name="first_steps_again"),
    path("first-steps/<str:step>/", home.first_step, name="first_step"),
    path("demo/load/", demo.load, name="demo_load"),
    path("demo/remove/", demo.remove, name="demo_remove"),
]

urlpatterns = [
    path("", home.home, name="home"),
    path("memories/held/", include((quarantine.held, "held"))),
    path("quarantine/decided/", include((quarantine.decided, "decided"))),
    path("quarantine/", include((quarantine.queue, "quarantine"))),
    path("inbox/", include("minara_site.console.inbox.urls")),
    path("ops/jobs/", include("minara_site.console.jobs.urls")),
    path("ops/budgets/", include("minara_site.console.budgets.urls")),
    path("ops/audit-log/", include("minara_site.console.audit_log.urls")),
    path("ops/governance/", include("minara_site.console.governance.urls")),
    path("ops/scan-rules/", include("minara_site.console.scan_rules.urls")),
    path("", include((pages, "console"))),
    path("ops/users/", include("minara_site.console.users.urls")),
    path("ops/settings/", include("minara_site.console.effective_settings.urls")),
    path("ops/prices/", include("minara_site.console.prices.urls")),
    path("", include("minara_site.console.access_log.urls")),
    path("", include("minara_site.console.status.urls")),
]
