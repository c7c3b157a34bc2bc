"""Addresses of trading agents and their ticks, below `/ledger/`."""

from django.urls import path

from learning_app.ticks import views

app_name = "ticks"
urlpatterns = [
    path("deployments/<str:deployment_id>/", views.deployment, name="deployment"),
    path("trades/<str:trade_uid>/", views.trade, name="trade"),
    path("trades/<str:trade_uid>/reveal/", views.reveal, name="reveal"),
    path("trades/<str:trade_uid>/reveal/end/", views.reveal_end, name="reveal_end"),
    path("trades/<str:trade_uid>/note/", views.note, name="note"),
    path("ticks/<int:snapshot_id>/", views.snapshot, name="snapshot"),
]
