"""Addresses of learnings, below `/learnings/`."""

from django.urls import path

from learning_app.learnings import views

app_name = "learnings"
urlpatterns = [
    path("", views.learning_list, name="list"),
    path("try/", views.try_page, name="try"),
    path("bulk/", views.bulk, name="bulk"),
    path("<str:learning_uid>/", views.learning_page, name="one"),
    path("<str:learning_uid>/edit/", views.edit, name="edit"),
    path("<str:learning_uid>/delete/", views.delete, name="delete"),
    path("<str:learning_uid>/restore/", views.restore, name="restore"),
]
