"""Addresses of status and metrics."""

from django.urls import path

from minara_site.console.status import views

app_name = "status"
urlpatterns = [
    path("ops/status/", views.status, name="page"),
    path("metrics", views.metrics, name="metrics"),
]
