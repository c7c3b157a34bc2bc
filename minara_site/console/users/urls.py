"""Addresses of the people, below `/ops/users/`."""

from django.urls import path

from minara_site.console.users import views

app_name = "users"
urlpatterns = [
    path("", views.user_list, name="list"),
    path("invite/", views.invite, name="invite"),
    path("<int:user_id>/", views.one, name="one"),
    path("<int:user_id>/role/", views.role, name="role"),
    path("<int:user_id>/link/", views.new_link, name="new_link"),
    path("<int:user_id>/link/withdraw/", views.withdraw_link, name="withdraw_link"),
    path("<int:user_id>/disable/", views.change, {"name": "disable"}, name="disable"),
    path("<int:user_id>/enable/", views.change, {"name": "enable"}, name="enable"),
    path("<int:user_id>/sessions/end/", views.change, {"name": "end_sessions"}, name="end_sessions"),
    path("<int:user_id>/second-factor/reset/", views.change, {"name": "reset_factor"}, name="reset_factor"),
    path("<int:user_id>/keys/<str:prefix>/revoke/", views.key_revoke, name="key_revoke"),
]
