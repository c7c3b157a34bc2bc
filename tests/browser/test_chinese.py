"""What acts say in Simplified Chinese, in a real browser: no Latin word is left that is no identifier (screens U-29).

`tests.web.test_chinese` reads every page; `test_pages` judges half of them in Chinese.
"""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from memory_app.memories.models import Memory
from memory_app.memories.services import Changes, edit_memory
from minara_site.access.models import User
from tests.kit.chromium import Judge, Visit
from tests.kit.fixtures import make_user
from tests.memory_app.memories.factories import browser, make_memory
from tests.web.chinese import words_left

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def li(db: None) -> User:
    """An owner who reads Chinese."""
    return make_user("li", display_name="李明", language="zh-hans", time_zone="Asia/Shanghai")


@pytest.fixture
def memory(li: User) -> Memory:
    """What Li typed."""
    return make_memory(li, "单笔仓位不超过总资金的 3%", at=timezone.now())


def test_what_acts_say(visit: Visit, judge_open: Judge, li: User, memory: Memory) -> None:
    console = visit(li)

    def is_whole(page: Page, name: str) -> None:
        assert list(words_left(page.content())) == []
        judge_open(page, name)

    page = console.open("/memories/")
    page.locator("tbody input[name=ids]").first.check()
    expect(page.locator("[data-selected]")).to_have_text("已选 1 行")
    page.locator(".bulk [data-act=delete]").click()
    expect(page.locator("[data-toast] > span")).to_have_text("已删除 1 条记忆。30 天内可以恢复。")
    page.locator("[data-undo] button").focus()  # so that it stays
    is_whole(page, "a toast with its undo, in Chinese")
    page.locator("[data-undo] button").click()
    expect(page.locator("[data-toast] > span")).to_have_text("已撤销对 1 条记忆的操作。")

    page = console.open("/settings/keys/new/")
    page.locator("input[name=label]").fill("交易台")
    page.locator("input[name=networks]").fill("没有")
    page.get_by_role("button", name="创建密钥").click()
    expect(page.locator(".error").first).to_be_visible()
    is_whole(page, "a refused key, in Chinese")
    page.locator("input[name=networks]").fill("10.0.0.0/8")
    page.get_by_role("button", name="创建密钥").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("您的新密钥")
    is_whole(page, "a new key, in Chinese")

    page = console.open("/settings/security/password/")
    for name in ("old_password", "new_password1", "new_password2"):
        page.locator(f"input[name={name}]").fill("123456789012")
    page.get_by_role("button", name="更改密码").click()
    expect(page.locator(".error").first).to_have_text("当前密码不正确。再输入一次。")
    is_whole(page, "a refused password, in Chinese")

    page = console.open(f"/memories/{memory.pk}/edit/")
    changes = Changes(content="单笔仓位不超过 1%")
    edit_memory(principal=browser(li), memory_id=memory.pk, changes=changes, now=timezone.now())
    page.locator("textarea").fill("单笔仓位不超过 5%")
    page.get_by_role("button", name="保存", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"记忆 {memory.pk} 已被更改")
    is_whole(page, "a conflict, in Chinese")
