"""Addresses of trading cases, below `/trading-cases/`."""

from django.urls import URLPattern

app_name = "cases"
urlpatterns: list[URLPattern] = []
