"""Addresses of institution runs, below `/institution/`."""

from django.urls import path

from learning_app.institution import views

app_name = "institution"
urlpatterns = [
    path("", views.run_list, name="list"),
    path("new/", views.start, name="start"),
    path("<str:institution_uid>/", views.run_page, name="one"),
    path("<str:institution_uid>/progress/", views.progress, name="progress"),
    path("<str:institution_uid>/cancel/", views.cancel, name="cancel"),
]
