"""Addresses of the operators' inbox."""

from django.urls import path

from minara_site.console.inbox import views

app_name = "inbox"
urlpatterns = [
    path("", views.inbox, name="list"),
    path("<int:alert_id>/close/", views.close, name="close"),
    path("<int:alert_id>/reopen/", views.reopen, name="reopen"),
]
