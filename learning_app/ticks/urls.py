"""Addresses of trading agents and their ticks, below `/ledger/`."""

from django.urls import path

from learning_app.ticks import views

app_name = "ticks"
urlpatterns = [
    path("deployments/<str:uid>/", views.deployment, name="deployment"),
    path("ticks/<int:snapshot_id>/", views.snapshot, name="snapshot"),
]
