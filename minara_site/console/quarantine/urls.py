"""Addresses of the queue, below `/memories/held/` and `/quarantine/`; decisions go to the former."""

from django.urls import URLPattern, path

from minara_site.console.quarantine import views

held: list[URLPattern] = [
    path("", views.queue, name="list"),
    path("bulk/", views.bulk, name="bulk"),
    path("<int:hold_id>/", views.one, name="one"),
    path("<int:hold_id>/release/", views.release, name="release"),
    path("<int:hold_id>/discard/", views.discard, name="discard"),
    path("<int:hold_id>/again/", views.again, name="again"),
    path("<int:hold_id>/undo/", views.undo, name="undo"),
]
review: list[URLPattern] = [
    path("", views.review, name="list"),
    path("bulk/", views.review_bulk, name="bulk"),
    path("<int:hold_id>/", views.review_one, name="one"),
]
