"""Which version a call of the API read, by its If-Match header (W-15)."""

import re

from django.utils.translation import gettext as _

from minara_site.kernel.errors import Malformed
from minara_site.shell.pages import PageRequest

ETAG = re.compile(r'(?:W/)?("?)(\d{1,9})\1', re.ASCII)


def expected_version(request: PageRequest) -> int | None:
    """Return the version of If-Match; a key may leave it out, a browser session may not. Raises Malformed."""
    header = request.headers.get("If-Match", "").strip()
    if header == "*":
        return None
    if not header:
        if not request.principal.is_key:
            raise Malformed(_("Send If-Match with the version that you read."), code="if_match_required")
        return None
    found = ETAG.fullmatch(header)
    if found is None:
        raise Malformed(_('If-Match must be a version such as "3".'))
    return int(found[2])
