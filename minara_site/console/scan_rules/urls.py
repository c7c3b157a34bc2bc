"""Addresses of the scan rules, below `/ops/scan-rules/`."""

from django.urls import path

from minara_site.console.scan_rules import views

app_name = "scan_rules"
urlpatterns = [
    path("", views.scan_rules, name="page"),
    path("rescan/", views.rescan, name="rescan"),
]
