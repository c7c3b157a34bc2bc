"""Addresses of methodologies, below `/methodologies/`."""

from django.urls import path

from learning_app.methodology_pages.views import lists, one

app_name = "methodologies"
urlpatterns = [
    path("", lists.methodology_list, name="list"),
    path("bulk/", lists.bulk, name="bulk"),
    path("<str:uid>/", one.methodology_page, name="one"),
    path("<str:uid>/quarantine/", one.quarantine_one, name="quarantine"),
    path("<str:uid>/release/", one.release_one, name="release"),
    path("<str:uid>/read/", one.mark_read, name="read"),
    path("<str:uid>/unread/", one.mark_unread, name="unread"),
]
