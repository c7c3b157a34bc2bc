"""`GET /v1/budget`: what each category has spent, reserved and may cost. Shapes: the contract."""

from typing import Any

from django.utils import timezone
from ninja import Schema

from minara_site.access.api_auth import ApiRouter
from minara_site.access.policy import Act
from minara_site.kernel.llm.selectors import budget_record, load_budget
from minara_site.shell.pages import PageRequest
from minara_site.web.schemas import Data

router = ApiRouter(tags=["operations"])


class WindowOut(Schema):
    """A day or month in USD, as decimal texts.

    What is spent, what the calls under way may cost at worst, and what both may come to.
    """

    spent_usd: str
    reserved_usd: str
    cap_usd: str


class CategoryOut(Schema):
    """The running day and month of a category, in UTC."""

    day: WindowOut
    month: WindowOut


class BudgetOut(Schema):
    """Every category: learning, agent, workflow, experiment."""

    categories: dict[str, CategoryOut]


@router.get("/budget", "Read the budget", Act.BUDGET_READ, Data[BudgetOut])
def budget(request: PageRequest) -> dict[str, Any]:
    """Answer the running windows, with the numbers that the guard of model calls uses."""
    return {"data": budget_record(load_budget(now=timezone.now()))}
