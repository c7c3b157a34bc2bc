"""The project's settings with Django's admin beside it: the reference for list pages."""

from minara_site.settings import *  # noqa: F403
from minara_site.settings import INSTALLED_APPS as PROJECT_APPS

INSTALLED_APPS = ["django.contrib.admin", *PROJECT_APPS]
ROOT_URLCONF = "tests.bench.admin_urls"
