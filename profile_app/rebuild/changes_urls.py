"""Addresses under `/profile/changes/`."""

from django.urls import path

from profile_app.rebuild.views import changes

app_name = "changes"

urlpatterns = [path("", changes.changes_page, name="page")]
