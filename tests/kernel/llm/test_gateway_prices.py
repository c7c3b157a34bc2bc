"""What models cost: the table, an operator's own prices, and a bound that no call passes."""

import json
from decimal import Decimal

from hypothesis import given, strategies as st

from minara_site.config import ModelPriceSetting
from minara_site.kernel.llm.core.prices import ADDED_TOKENS, LARGEST, PRICES, Tokens, cost_of, price_of, worst_cost_of
from tests.kit.tables import table

SMALL = st.integers(0, 200_000)


@table(
    ("model", "rates"),
    [
        ("claude-haiku-5-5", "0.10 0.50 0.125 0.01"),
        ("claude-sonnet-5-5", "2 10 2.50 0.10"),
        ("claude-opus-5-5", "4 20 5 0.20"),
        ("claude-fable-5-1", "10 50 12.50 0.25"),
        ("claude-haiku-4-5", "1 5 1.25 0.10"),
    ],
)
def test_knows_the_models_of_today(model: str, rates: str) -> None:
    found = PRICES[model].rates
    assert (found.input, found.output, found.cache_write, found.cache_read) == tuple(map(Decimal, rates.split()))


def test_a_cache_costs_a_quarter_more_to_write_and_less_to_read() -> None:
    for price in PRICES.values():
        for rates in filter(None, (price.rates, price.long)):
            assert rates.cache_write == rates.input * Decimal("1.25")
            assert rates.cache_read <= rates.input * Decimal("0.1")


def test_a_name_with_its_date_costs_what_the_name_does() -> None:
    assert price_of("claude-haiku-4-5-20251001", {}) == PRICES["claude-haiku-4-5"]
    assert price_of("claude-haiku-4-5-latest", {}) is None
    assert price_of("claude", {}) is None


def test_what_is_set_wins_and_leaves_caching_at_its_usual_price() -> None:
    setting = ModelPriceSetting(input=Decimal(2), output=Decimal(4))
    price = price_of("claude-haiku-5-5", {"claude-haiku-5-5": setting})
    assert price is not None
    assert (price.rates.cache_write, price.rates.cache_read, price.long) == (Decimal("2.5"), Decimal("0.2"), None)
    free = ModelPriceSetting(
        input=Decimal(0),
        output=Decimal(0),
        cache_read=Decimal(0),
        cache_write=Decimal(1),
    )
    assert price_of("own", {"own": free}) is not None


@table(("prompt", "usd"), [(100_000, "0.01"), (100_001, "0.0500005")])
def test_a_long_prompt_is_billed_from_the_first_token_beyond(prompt: int, usd: str) -> None:
    assert cost_of(PRICES["claude-haiku-5-5"], Tokens(prompt, 0)) == Decimal(usd)


def test_an_amount_that_no_column_holds_is_the_largest_that_one_does() -> None:
    price = price_of("own", {"own": ModelPriceSetting(input=Decimal(900_000), output=Decimal(0))})
    assert price is not None
    assert cost_of(price, Tokens(10**9, 0)) == LARGEST


@given(
    model=st.sampled_from(sorted(PRICES)),
    text=st.text(max_size=3000),
    read=SMALL,
    write=SMALL,
    output=SMALL,
)
def test_no_call_costs_more_than_its_worst(model: str, text: str, read: int, write: int, output: int) -> None:
    size = len(json.dumps(text, ensure_ascii=False).encode(errors="surrogatepass")) * 100
    most = size + ADDED_TOKENS
    cached_read, cached_write = min(read, most), min(write, most - min(read, most))
    tokens = Tokens(most - cached_read - cached_write, output, cached_read, cached_write)
    worst = worst_cost_of(PRICES[model], question_bytes=size, max_tokens=output)
    assert cost_of(PRICES[model], tokens) <= worst
