"""Addresses of the shell itself."""

from django.urls import path

from minara_site.shell import views

app_name = "web"
urlpatterns = [path("settings/theme/", views.set_theme, name="theme")]
