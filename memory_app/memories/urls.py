"""Addresses of the memories, below `/memories/`."""

from django.urls import path

from memory_app.memories.views import lists, one, writes

app_name = "memories"
urlpatterns = [
    path("", lists.memory_list, name="list"),
    path("trash/", lists.trash, name="trash"),
    path("new/", writes.new, name="new"),
    path("count/", writes.count, name="count"),
    path("bulk/", lists.bulk, name="bulk"),
    path("<int:memory_id>/", one.show, name="one"),
    path("<int:memory_id>/edit/", writes.edit, name="edit"),
    path("<int:memory_id>/history/<int:version>/revert/", one.revert, name="revert"),
    path("<int:memory_id>/delete/", one.delete, name="delete"),
    path("<int:memory_id>/restore/", one.restore, name="restore"),
    path("<int:memory_id>/keep/", one.keep, name="keep"),
    path("<int:memory_id>/hard-constraint/", one.make_hard, name="make_hard"),
]
