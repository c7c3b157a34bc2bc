"""Addresses of what others imported for an owner, below `/memories/`."""

from django.urls import path

from memory_app.writes import brought_in_views as views

app_name = "brought_in"

urlpatterns = [
    path("brought-in/", views.newest, name="newest"),
    path("brought-in/<int:brought_in_id>/", views.one, name="one"),
    path("brought-in/<int:brought_in_id>/seen/", views.seen, name="seen"),
    path("brought-in/<int:brought_in_id>/roll-back/", views.apply, name="roll_back"),
    path("brought-in/<int:brought_in_id>/undo/", views.undo, name="undo"),
]
