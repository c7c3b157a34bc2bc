"""Failures that Django itself answers on machine paths, such as 405, as problem documents."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from minara_site.shell.errors import Problem, is_machine_path, json_problem, title_of
from minara_site.web.middleware import Middleware


class MachineProblemMiddleware(Middleware):
    """Rewrites a bare failure under /v1/; the headers that explain it stay."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_bare = response.status_code >= HTTPStatus.BAD_REQUEST and "json" not in response.get("Content-Type", "")
        if not (is_bare and is_machine_path(request.path)):
            return response
        status = HTTPStatus(response.status_code)
        detail = (
            _("This address does not take that method.")
            if status == HTTPStatus.METHOD_NOT_ALLOWED
            else title_of(status)
        )
        problem = json_problem(Problem(status, status.name.lower(), status.phrase, detail))
        if "Allow" in response:
            problem["Allow"] = response["Allow"]
        return problem
