"""The OpenAPI document as the API answers it; `python -m tests.api.document` freezes it."""

import json
import os
from pathlib import Path
from typing import Any

FROZEN = Path(__file__).with_name("openapi.json")


def current_document() -> dict[str, Any]:
    """Return the document."""
    from django.test import Client

    answer = Client(headers={"Host": "localhost"}).get("/v1/openapi.json")
    assert answer.status_code == 200
    return answer.json()


def text_of(document: dict[str, Any]) -> str:
    """Return the document as it is kept."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "minara_site.settings")
    django.setup()
    FROZEN.write_text(text_of(current_document()))
