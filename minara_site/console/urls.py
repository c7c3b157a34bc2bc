"""Addresses of home, settings and demo."""

from django.urls import include, path

from minara_site.console.demo import views as demo
from minara_site.console.home import views as home
from minara_site.console.settings import views as settings

pages = [
    path("settings/", settings.settings, name="settings"),
    path("settings/password/", settings.password, name="password"),
    path("first-steps/again/", home.first_steps_again, name="first_steps_again"),
    path("first-steps/<str:step>/", home.first_step, name="first_step"),
    path("demo/load/", demo.load, name="demo_load"),
    path("demo/remove/", demo.remove, name="demo_remove"),
]

urlpatterns = [
    path("", home.home, name="home"),
    path("", include((pages, "console"))),
]
