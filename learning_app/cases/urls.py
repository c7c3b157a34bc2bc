"""Addresses of trading cases, below `/trading-cases/`."""

from django.urls import path

from learning_app.cases import views

app_name = "cases"
urlpatterns = [
    path("", views.case_list, name="list"),
    path("<int:case_id>/", views.case_page, name="one"),
]
