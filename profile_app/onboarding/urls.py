"""Addresses under `/onboarding/`."""

from django.urls import path

from profile_app.onboarding import views

app_name = "onboarding"

urlpatterns = [
    path("", views.overview, name="page"),
    path("finish/", views.finish, name="finish"),
    path("undo/", views.undo, name="undo"),
    path("<str:question>/", views.step, name="step"),
    path("<str:question>/preview/", views.preview, name="preview"),
]
