"""Addresses of the jobs pages."""

from django.urls import path

from minara_site.console.jobs import views

app_name = "jobs"
urlpatterns = [
    path("", views.run_list, name="list"),
    path("start/", views.start, name="start"),
    path("<int:run_id>/", views.run, name="run"),
    path("<int:run_id>/progress/", views.progress, name="progress"),
    path("<int:run_id>/cancel/", views.cancel, name="cancel"),
    path("<int:run_id>/retry/", views.retry, name="retry"),
]
