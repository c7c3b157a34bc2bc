"""The product's addresses and the toy's: what a real app adds to `minara_site/urls.py` and `api.py`, a line each."""

from django.urls import include, path

from minara_site.api import ROUTERS, build_api
from tests.toy.api import router

urlpatterns = [
    path("", include("tests.toy.urls")),
    path("v1/", build_api((*ROUTERS, router), namespace="toy_api").urls),
    path("", include("minara_site.urls")),
]
