"""Addresses of trading cases, below `/trading-cases/`."""

from django.urls import path

from learning_app.cases import views

app_name = "cases"
urlpatterns = [
    path("", views.case_list, name="list"),
    path("find/", views.find_case, name="find"),
    path("<int:case_id>/", views.case_page, name="one"),
    path("<int:case_id>/reveal/", views.reveal, name="reveal"),
    path("<int:case_id>/reveal/end/", views.reveal_end, name="reveal_end"),
    path("<int:case_id>/note/", views.note, name="note"),
]
