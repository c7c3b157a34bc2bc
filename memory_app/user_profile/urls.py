"""Addresses under `/user-profile/`."""

from django.urls import path

from memory_app.user_profile import views

app_name = "user_profile"

urlpatterns = [
    path("", views.entry_list, name="page"),
    path("add/", views.entry_add, name="add"),
    path("warn/", views.entry_warn, name="warn"),
    path("undo/", views.entry_undo, name="undo"),
    path("<str:key>/edit/", views.entry_edit, name="edit"),
    path("<str:key>/remove/", views.entry_remove, name="remove"),
]
