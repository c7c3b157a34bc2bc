"""Addresses of the facts, below `/facts/`."""

from django.urls import path

from memory_app.facts import views

app_name = "facts"
urlpatterns = [
    path("", views.fact_list, name="list"),
    path("conflicts/", views.conflict_list, name="conflicts"),
    path("conflicts/<int:conflict_id>/<str:kind>/", views.decide, name="decide"),
    path("events/", views.event_list, name="events"),
    path("events/<int:event_id>/undo/", views.undo, name="undo"),
    path("events/<int:event_id>/override/<str:kind>/", views.override, name="override"),
]
