"""Addresses of own notes, below `/notes/`."""

from django.urls import path

from learning_app.notes import views

app_name = "notes"
urlpatterns = [path("<str:note_kind>/<str:note_key>/", views.write, name="write")]
