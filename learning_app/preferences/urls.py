"""Addresses of preferences, below `/profile/preferences/`."""

from django.urls import path

from learning_app.preferences.views import limits, lists, one, propose

app_name = "preferences"
urlpatterns = [
    path("", lists.preference_list, name="list"),
    path("new/", propose.new, name="propose"),
    path("count/", propose.count, name="count"),
    path("bulk/", lists.bulk, name="bulk"),
    path("<int:preference_id>/", one.show, name="one"),
    path("<int:preference_id>/approve/", one.approve_one, name="approve"),
    path("<int:preference_id>/reject/", one.reject_one, name="reject"),
    path("<int:preference_id>/archive/", one.archive_one, name="archive"),
    path("<int:preference_id>/activate/", limits.activate, name="activate"),
    path("<int:preference_id>/archive-constraint/", limits.archive_limit, name="archive_constraint"),
]
