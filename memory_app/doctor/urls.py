"""Addresses under `/ops/doctor/`."""

from django.urls import path

from memory_app.doctor import views

app_name = "doctor"

urlpatterns = [
    path("", views.show, name="page"),
    path("anonymous.json", views.anonymous, name="anonymous"),
    path("look/", views.look, name="look"),
    path("runs/<int:fix_run_id>/", views.run, name="run"),
    path("runs/<int:fix_run_id>/apply/", views.apply, name="apply"),
]
