"""Addresses of the operators' page of prices."""

from django.urls import path

from minara_site.console.prices import views

app_name = "prices"
urlpatterns = [
    path("", views.prices, name="page"),
    path("<int:seconds>/<int:price_id>/confirm/", views.confirm, name="confirm"),
    path("<int:seconds>/<int:price_id>/doubt/", views.confirm, {"is_undo": True}, name="doubt"),
]
