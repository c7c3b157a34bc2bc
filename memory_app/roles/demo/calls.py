"""The model calls of the demo's reflections. The windows of the budget equal the calls, before, with and after them."""

from decimal import Decimal

from django.db.models import F

from memory_app.roles.models import RoleMemory
from memory_app.roles.selectors import subject_of
from memory_app.roles.services.stages import STAGE_ONE, STAGE_TWO
from minara_site.kernel.demo import DemoLoad
from minara_site.kernel.llm.core import Category
from minara_site.kernel.llm.core.prices import PRICES, Tokens, cost_of
from minara_site.kernel.llm.core.windows import windows_of
from minara_site.kernel.llm.models import BudgetWindow, LlmUsage

FAST, MAIN = "claude-haiku-5-5", "claude-sonnet-5-5"


def store_calls(load: DemoLoad, entry: RoleMemory) -> None:
    """Store the calls that the reflection on an entry took, and name them in it."""
    length = len(entry.decision) + len(entry.narrative)
    if entry.classification:
        entry.stage1_usage_id = store_call(
            load,
            entry,
            STAGE_ONE,
            FAST,
            Tokens(980 + length, 120 + length // 6),
        )
    if entry.lesson:
        tokens = Tokens(
            1_240 + length,
            60 + len(entry.lesson) // 4,
            cache_read=860,
        )
        entry.stage2_usage_id = store_call(load, entry, STAGE_TWO, MAIN, tokens)
    entry.save(update_fields=["stage1_usage_id", "stage2_usage_id"])


def store_call(
    load: DemoLoad,
    entry: RoleMemory,
    task: str,
    model: str,
    tokens: Tokens,
) -> int:
    """Store one call, add it to the windows of its day, and return its id."""
    assert entry.reflected_at is not None
    usage = LlmUsage.objects.create(
        category=Category.LEARNING,
        task=task,
        model=model,
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cost_usd=cost_of(PRICES[model], tokens),
        date=entry.reflected_at.date(),
        ts=entry.reflected_at,
        owner_id=entry.owner_id,
        subject=subject_of(entry.pk),
    )
    load.mark(usage)
    for window in windows_of(Category.LEARNING, usage.date):
        row, is_new = BudgetWindow.objects.get_or_create(category=window.category, window=window.name)
        if is_new:
            load.mark(row)
        add_spent(row, usage.cost_usd, 1)
    return int(usage.pk)


def add_spent(row: BudgetWindow, amount: Decimal, calls: int) -> None:
    """Add to what a window has spent, exactly: SQLite adds in binary fractions."""
    row.spent_usd += amount
    BudgetWindow.objects.filter(pk=row.pk).update(spent_usd=row.spent_usd, calls=F("calls") + calls)


def remove_calls(load: DemoLoad) -> None:
    """Delete the calls, what they added to the windows, and the windows that the demo began and nothing else used."""
    for usage in load.marked(LlmUsage):
        for window in windows_of(Category(usage.category), usage.date):
            row = BudgetWindow.objects.get(category=window.category, window=window.name)
            add_spent(row, -usage.cost_usd, -1)
        usage.delete()
    load.marked(BudgetWindow).filter(
        calls=0,
        spent_usd=0,
        cap_usd__isnull=True,
        warned_at__isnull=True,
    ).delete()
