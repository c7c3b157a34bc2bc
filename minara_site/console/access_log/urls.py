"""Addresses of the access log."""

from django.urls import path

from minara_site.console.access_log import views

app_name = "access_log"
urlpatterns = [
    path("ops/access-log/", views.access_log, name="list"),
    path("privacy/looks/", views.own_access, name="own"),
    path("settings/reveals/", views.own_reveals, name="reveals"),
]
