"""Addresses below `/memories/` that say why a memory is there."""

from django.urls import path

from memory_app.why import views

app_name = "why"

urlpatterns = [path("<int:memory_id>/why/", views.show, name="page")]
