"""Addresses under `/profile/tags/`."""

from django.urls import path

from profile_app.portrait.views import tags

app_name = "tags"

urlpatterns = [
    path("", tags.tags_page, name="page"),
    path("undo/<int:tag_event_id>/", tags.undo, name="undo"),
    path("<str:tag_name>/declare/", tags.declare, name="declare"),
    path("<str:tag_name>/clear/", tags.clear, name="clear"),
    path("<str:tag_name>/confirm/", tags.confirm, name="confirm"),
]
