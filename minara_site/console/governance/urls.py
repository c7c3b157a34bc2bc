"""Addresses of governance, below `/ops/governance/`: a page for each capability."""

from django.urls import path

from minara_site.console.governance import views
from minara_site.kernel.governance.table import load_capabilities

app_name = "governance"
urlpatterns = [
    path("", views.governance, name="page"),
    path("breaker/", views.close_breaker, name="close"),
    *(
        path(
            f"{name}/",
            views.change,
            {"capability": each},
            name=name,
        )
        for name, each in load_capabilities().items()
    ),
]
