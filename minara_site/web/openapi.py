"""The OpenAPI document, with how every operation fails: one problem document (RFC 9457, contract)."""

from typing import Any, Literal

from ninja import NinjaAPI, Schema
from ninja.openapi.schema import OpenAPISchema

REFERENCE = "#/components/schemas/{model}"
IDEMPOTENCY_KEY = {
    "in": "header",
    "name": "Idempotency-Key",
    "required": False,
    "description": "A key of your own: within 24 hours the same call with the same key happens once; repeated, it gets "
    "the first answer, with the header Idempotency-Replayed; another call with the key is refused with 422.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
}


class FieldProblem(Schema):
    """One wrong field and what to do about it."""

    field: str
    message: str


class ProblemDocument(Schema):
    """What went wrong, with a stable `code`. `current` is the stored row when yours was stale."""

    ok: Literal[False] = False
    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: list[FieldProblem]
    current: dict[str, Any] | None = None


class DocumentedAPI(NinjaAPI):
    """An API whose document says how its operations fail."""

    def get_openapi_schema(self, **place: Any) -> OpenAPISchema:
        """Return the document with the answers 4XX and 5XX of every operation."""
        document = super().get_openapi_schema(**place)
        schema = ProblemDocument.model_json_schema(ref_template=REFERENCE)
        document["components"]["schemas"] |= {**schema.pop("$defs"), "ProblemDocument": schema}
        content = {"application/problem+json": {"schema": {"$ref": REFERENCE.format(model="ProblemDocument")}}}
        for operations in document["paths"].values():
            for operation in operations.values():
                operation["responses"]["4XX"] = {"description": "The call was refused", "content": content}
                operation["responses"]["5XX"] = {"description": "It failed on our side", "content": content}
            if "post" in operations:
                operations["post"].setdefault("parameters", []).append(IDEMPOTENCY_KEY)
        return document
