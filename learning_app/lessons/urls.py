"""Addresses of lessons, below `/lessons/`."""

from django.urls import path

from learning_app.lessons import views

app_name = "lessons"
urlpatterns = [
    path("", views.note_list, name="list"),
    path("<str:content_hash>/", views.note_page, name="one"),
]
