"""Addresses under `/ops/embeddings/`."""

from django.urls import path

from memory_app.embeddings import views

app_name = "embeddings"

urlpatterns = [
    path("", views.embeddings, name="page"),
    path("backfill/", views.backfill, name="backfill"),
]
