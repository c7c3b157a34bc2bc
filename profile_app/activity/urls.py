"""Addresses under `/profile/activity/`."""

from django.urls import path

from profile_app.activity import views

app_name = "activity"

urlpatterns = [
    path("", views.activity_page, name="page"),
    path("add/", views.add, name="add"),
    path("sync/", views.sync, name="sync"),
    path("<int:account_id>/remove/", views.remove, name="remove"),
    path("<int:account_id>/restore/", views.restore, name="restore"),
]
