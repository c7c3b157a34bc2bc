"""Addresses of sign-in, first run and keys. allauth's own urls are left out: we have one way in."""

from django.urls import include, path

from minara_site.access import views
from minara_site.access.keys import views as keys

pages = [
    path("welcome/", views.claim, name="claim"),
    path("welcome/<str:token>/", views.first_run, name="first_run"),
    path("settings/keys/", keys.key_list, name="keys"),
    path("settings/keys/new/", keys.key_new, name="key_new"),
    path("settings/keys/<str:prefix>/revoke/", keys.key_revoke, name="key_revoke"),
]

urlpatterns = [
    path("login", views.sign_in, name="account_login"),
    path("logout", views.sign_out, name="account_logout"),
    path("", include((pages, "access"))),
]
