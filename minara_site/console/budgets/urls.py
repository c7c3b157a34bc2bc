"""Addresses of the budget's pages."""

from django.urls import path

from minara_site.console.budgets import views

app_name = "budgets"
urlpatterns = [
    path("", views.budgets, name="list"),
    path("<str:category>/<str:window>/raise/", views.raise_cap, name="raise"),
    path("<str:category>/<str:window>/clear/", views.clear_cap, name="clear"),
]
