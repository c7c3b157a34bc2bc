"""Addresses under `/ops/writes/`."""

from django.urls import path

from memory_app.writes import views

app_name = "writes"

urlpatterns = [
    path("", views.writes, name="page"),
    path("rows/", views.rows, name="rows"),
    path("roll-back/", views.preview, name="preview"),
    path("roll-back/apply/", views.apply, name="apply"),
    path("<int:rollback_id>/", views.rollback, name="rollback"),
    path("<int:rollback_id>/undo/", views.undo, name="undo"),
]
