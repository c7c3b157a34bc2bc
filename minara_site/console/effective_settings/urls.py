"""The address of the effective settings."""

from django.urls import path

from minara_site.console.effective_settings import views

app_name = "effective_settings"
urlpatterns = [path("", views.effective_settings, name="page")]
