"""Addresses under `/workspace/`."""

from django.urls import path

from profile_app.workspace.views import lists, one

app_name = "workspace"

urlpatterns = [
    path("", lists.file_list, name="page"),
    path("note/", lists.new_note, name="note"),
    path("default-files/", lists.scaffold, name="scaffold"),
    path("default-files/undo/", lists.unscaffold, name="unscaffold"),
    path("MEMORY.md/additions/", one.additions, name="additions"),
    path("<path:file_name>/save/", one.save, name="save"),
    path("<path:file_name>/warn/", one.warn, name="warn"),
    path("<path:file_name>/draft/", one.draft, name="draft"),
    path("<path:file_name>/edit/", one.edit, name="edit"),
    path("<path:file_name>/versions/<int:file_version>/restore/", one.restore, name="restore"),
    path("<path:file_name>/", one.show, name="one"),
]
