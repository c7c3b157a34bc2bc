"""Three pages and four API operations behind the guards, for the tests of the guards."""

from django.http import HttpResponse
from django.urls import path
from ninja import Body, NinjaAPI

from minara_site.access.api_auth import allow, caller
from minara_site.access.policy import Act
from minara_site.kernel.errors import MinaraError
from minara_site.shell.pages import page
from minara_site.urls import urlpatterns as real_urls


def answer(request):
    return HttpResponse(f"{request.method} by {request.principal.actor}")


api = NinjaAPI(auth=caller, urls_namespace="guarded")


@api.exception_handler(MinaraError)
def answer_error(request, error):
    return api.create_response(request, {"code": error.problem_code}, status=error.status)


@api.get("/read", auth=allow(Act.MEMORY_READ))
def read(request):
    return {"actor": request.principal.actor, "user": request.user.username}


@api.post("/write", auth=allow(Act.MEMORY_WRITE))
def write(request, body: Body[dict[str, int]]):
    return {"actor": request.principal.actor}


@api.delete("/write", auth=allow(Act.MEMORY_WRITE))
def remove(request):
    return {"actor": request.principal.actor}


@api.get("/who")
def who(request):
    return {"actor": request.principal.actor}


urlpatterns = [
    path("guarded/open", page(Act.SIGN_IN, "GET", "POST")(answer)),
    path("guarded/own", page(Act.MEMORY_READ)(answer)),
    path("guarded/save", page(Act.MEMORY_WRITE, "POST")(answer)),
    path("guarded/api/", api.urls),
    *real_urls,
]
