"""Addresses of the ledger, below `/ledger/`; those of its ticks stand before them."""

from django.urls import path

from learning_app.ledger import views

app_name = "ledger"
urlpatterns = [
    path("", views.ledger_list, name="list"),
    path("trips/<int:trip_id>/", views.trip_page, name="trip"),
    path("trips/<int:trip_id>/reveal/", views.reveal_trip, name="reveal_trip"),
    path("trips/<int:trip_id>/reveal/end/", views.reveal_trip_end, name="reveal_trip_end"),
    path("trips/<int:trip_id>/note/", views.note_trip, name="note_trip"),
    path("<slug:trade_source>/<str:ledger_key>/", views.ledger_page, name="one"),
    path("<slug:trade_source>/<str:ledger_key>/trades/", views.trip_list, name="trips"),
]
