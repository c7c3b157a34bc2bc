"""Addresses of role memory, below `/role-memory/`."""

from django.urls import path

from memory_app.roles.views import entries, outcomes

app_name = "role_memory"
urlpatterns = [
    path("", entries.entry_list, name="list"),
    path("outcomes/", outcomes.outcome_queue, name="outcomes"),
    path("outcomes/<int:entry_id>/", outcomes.judge, name="judge"),
    path("<int:entry_id>/", entries.entry_page, name="one"),
    path("<int:entry_id>/outcome/", outcomes.mark, name="mark"),
    path("<int:entry_id>/outcome/undo/", outcomes.undo, name="undo"),
]
