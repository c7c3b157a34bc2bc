"""Addresses of the audit log."""

from django.urls import path

from minara_site.console.audit_log import views

app_name = "audit_log"
urlpatterns = [
    path("", views.entry_list, name="list"),
    path("<int:audit_entry_id>/", views.entry, name="entry"),
    path("chain/", views.chain, name="chain"),
    path("check/", views.check, name="check"),
    path("export.<str:suffix>", views.export, name="export"),
]
