"""Addresses of the entities, below `/memories/`."""

from django.urls import path

from memory_app.entities import views

app_name = "edges"
urlpatterns = [path("graph/", views.graph, name="graph")]
