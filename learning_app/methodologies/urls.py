"""Addresses of methodologies, below `/methodologies/`."""

from django.urls import URLPattern

app_name = "methodologies"
urlpatterns: list[URLPattern] = []
