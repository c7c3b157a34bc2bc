"""Addresses under `/assets/`."""

from django.urls import path

from memory_app.pages import views

app_name = "pages"

urlpatterns = [
    path("", views.asset_list, name="list"),
    path("<path:asset>/", views.asset_page, name="one"),
]
