"""Addresses of learnings, below `/learnings/`."""

from django.urls import path

from learning_app.learnings import views

app_name = "learnings"
urlpatterns = [
    path("", views.learning_list, name="list"),
    path("try/", views.try_page, name="try"),
    path("bulk/", views.bulk, name="bulk"),
    path("<str:uid>/", views.learning_page, name="one"),
    path("<str:uid>/edit/", views.edit, name="edit"),
    path("<str:uid>/undo-edit/<int:version>/", views.undo_edit_view, name="undo_edit"),
    path("<str:uid>/delete/", views.delete, name="delete"),
    path("<str:uid>/restore/", views.restore, name="restore"),
]
