"""Addresses under `/ops/internals/capital/`."""

from django.urls import path

from profile_app.capital import views

app_name = "capital"

urlpatterns = [path("", views.capital_page, name="page")]
