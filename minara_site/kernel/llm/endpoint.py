"""Who is asked: the endpoint, its key, the models of the two tiers and what they cost, all from the settings."""

from dataclasses import dataclass, field

from django.conf import settings
from django.utils.translation import gettext as _

from minara_site.kernel.capabilities import MODEL_CALLS
from minara_site.kernel.errors import Unavailable
from minara_site.kernel.governance.core import Mode
from minara_site.kernel.governance.selectors import mode_of
from minara_site.kernel.llm.core.prices import Price, price_of
from minara_site.kernel.llm.core.questions import ModelRequest
from minara_site.kernel.llm.core.tiers import Tier


class ModelNotConfigured(Unavailable):
    """There is no model to ask before somebody sets a key."""

    code = "model_not_configured"


class UnknownModelPrice(Unavailable):
    """Nobody knows what the model costs, so that no budget could hold it."""

    code = "unknown_model_price"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where questions go, and with which key; an empty address is Anthropic's."""

    url: str
    key: str = field(repr=False)


def require_endpoint() -> Endpoint:
    """Return where questions go. Raises ModelNotConfigured."""
    missing = missing_key()
    if missing:
        raise ModelNotConfigured(missing)
    return Endpoint(settings.MINARA.anthropic_base_url, settings.MINARA.anthropic_api_key)


def missing_key() -> str:
    """Return what is missing to reach an endpoint, empty when nothing is. The address without its key is nothing."""
    if settings.MINARA.anthropic_api_key:
        return ""
    if settings.MINARA.anthropic_base_url:
        return _("No model can be called: ANTHROPIC_BASE_URL is set without ANTHROPIC_API_KEY. Set both.")
    return _("No model can be called: set ANTHROPIC_API_KEY.")


def model_of(tier: Tier) -> str:
    """Return the model of a tier."""
    return str(settings.MINARA.minara_model_fast if tier is Tier.FAST else settings.MINARA.minara_model_main)


def model_for(request: ModelRequest) -> str:
    """Return the model that a question or a conversation goes to."""
    return request.model or model_of(request.tier)


def require_price(model: str) -> Price:
    """Return what a model costs. Raises UnknownModelPrice, which names the setting."""
    price = find_price(model)
    if price is None:
        raise UnknownModelPrice(missing_price(model))
    return price


def find_price(model: str) -> Price | None:
    """Return what a model costs, None when nobody knows."""
    return price_of(model, settings.MINARA.minara_model_prices)


def missing_price(model: str) -> str:
    """Return how to say what a model costs."""
    sentence = _("No price is known of the model %(model)s, so it is not called. Set it in MINARA_MODEL_PRICES.")
    return sentence % {"model": model}


def what_is_missing() -> str:
    """Return one sentence for pages when a model cannot be called, nothing when all can. One query."""
    if missing := missing_key():
        return missing
    unpriced = next(
        (model for model in map(model_of, Tier) if find_price(model) is None),
        None,
    )
    if unpriced is not None:
        return missing_price(unpriced)
    return "" if mode_of(MODEL_CALLS) is Mode.ON else switched_off()


def switched_off() -> str:
    """Return that an operator stopped all model calls."""
    return _("Model calls are switched off. An operator turns them on under System, Automation.")


@dataclass(frozen=True, slots=True)
class Models:
    """Which models are asked, and what is missing; `is_wanted` once somebody set up an endpoint."""

    names: tuple[str, ...]
    missing: str
    is_wanted: bool


def read_models() -> Models:
    """Return how the models stand, for people who look after the instance. At most one query."""
    config = settings.MINARA
    is_wanted = bool(config.anthropic_api_key or config.anthropic_base_url)
    return Models(
        tuple(dict.fromkeys(map(model_of, Tier))),
        what_is_missing(),
        is_wanted,
    )
