"""The kernel's capability."""

from django.utils.translation import gettext_lazy as _

from minara_site.kernel.governance.table import Capability

MODEL_CALLS = Capability(
    "model_calls",
    _("Model calls"),
    _("Everything that asks a model. Off, nothing is asked and nothing is spent; the rest goes on."),
    has_shadow=False,
)
CAPABILITIES = (MODEL_CALLS,)
