"""Addresses of the queue, below `/memories/held/`."""

from django.urls import path

from memory_app.held import views

app_name = "held"
urlpatterns = [
    path("", views.queue, name="list"),
    path("bulk/", views.bulk, name="bulk"),
    path("<int:hold_id>/", views.one, name="one"),
    path("<int:hold_id>/release/", views.release, name="release"),
    path("<int:hold_id>/discard/", views.discard, name="discard"),
]
