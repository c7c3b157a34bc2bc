"""Addresses under `/ops/internals/strategy-runs/`."""

from django.urls import path

from profile_app.strategies import views

app_name = "strategy_runs"

urlpatterns = [path("", views.strategy_runs_page, name="page")]
