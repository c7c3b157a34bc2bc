"""The console in Simplified Chinese, at two widths: each page and state without a Latin word that is no identifier, axe
finds nothing, nothing is too wide (screens U-27, U-29)."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from memory_app.memories.core import Category, Source
from memory_app.memories.models import Memory
from memory_app.memories.services import Changes, delete_memories, edit_memory
from memory_app.roles.core import Classification
from memory_app.user_profile.services import set_entry
from minara_site.access.keys.services import create_key
from minara_site.access.models import ApiKey, User
from minara_site.access.policy import Role, Scope, permits
from minara_site.access.setup import issue_setup_link
from minara_site.web.nav import NAV
from profile_app.prompt.services import end_session, start_session
from tests.browser.test_pages import FOREIGN, NO_PAGES, links_of, view_of
from tests.kit.chromium import faults_at_both_widths
from tests.kit.fixtures import make_user
from tests.memory_app.memories.factories import browser, make_memory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

IDENTIFIERS = {
    *Category,
    *Source,
    *Scope,
    *"Minara minara worker OpenClaw Hermes JSON Lines apply v1/tools Claude".split(),
    *"API SHA-256 BM25 UTC AND OR NOT source prefix operator revoke n J K X English".split(),
    *"PIN JavaScript RRF MCP Code Cursor zip MiB arbitrum 0x long SOL memory_write memory_compiled_page".split(),
    *"mem0 get_all OpenMemory Letta af minara.db".split(),
    *Classification,
    *"ANTHROPIC_API_KEY MINARA_SKILL_MODULES MEMORY_CONSOLIDATION_ENABLED asset get_price relative_performance".split(),
    *"BTC EUR/USD risk risk_tolerance home_language conservative".split(),
}
CODE = "script, style, svg, kbd, code, pre, .mono, .cat, .ticker, .bytes, .fence, .p, .avatar, #id_time_zone option, noscript"
SPOKEN = ["aria-label", "title", "placeholder", "alt", "data-words", "data-label", "data-copied"]
LATIN = re.compile(r"[A-Za-z0-9]*[A-Za-z][A-Za-z0-9]*(?:[_:/.'’-][A-Za-z0-9]+)*")
READ_ALOUD = """([code, spoken]) => {
  const words = [document.title];
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) if (!nodes.currentNode.parentElement.closest(code)) words.push(nodes.currentNode.data);
  for (const element of document.body.querySelectorAll(":not(.mono)"))
    for (const name of spoken) words.push(element.getAttribute(name) ?? "");
  return words.map((each) => each.trim()).filter(Boolean);
}"""


def faults_here(console: Any) -> list[str]:
    """Return what is wrong with the page that is open: words left in English, language, axe, width."""
    page = console.page
    known = {
        *IDENTIFIERS,
        *User.objects.values_list("username", flat=True),
        *ApiKey.objects.values_list("prefix", flat=True),
    }
    words = [(word, text) for text in page.evaluate(READ_ALOUD, [CODE, SPOKEN]) for word in LATIN.findall(text)]
    left = [f"“{word}” in “{text}”" for word, text in words if word not in known]
    language = page.evaluate("document.documentElement.lang")
    wrong = [] if language == "zh-Hans" else [f"is in {language}"]
    return [f"{page.url}: {fault}" for fault in (*left, *wrong, *faults_at_both_widths(page))]


def crawl(console: Any, *paths: str, follow: bool = True) -> set[str]:
    """Visit these addresses, then one address of each view that links lead to; fail with all faults at once."""
    seen: set[str] = set()
    faults: list[str] = []
    links: list[str] = []

    def look(path: str) -> None:
        seen.add(view_of(path))
        console.page.goto(console.url + path)
        faults.extend(faults_here(console))
        links.extend(links_of(console.page) if follow else ())

    for path in paths:
        look(path)
    for link in links:
        if view_of(link) not in seen | NO_PAGES and not view_of(link).startswith(FOREIGN):
            look(link)
    assert faults == []
    return seen


TEXTS = (
    "单笔仓位不超过总资金的 3%",
    "资金费率连续三期为负时减仓",
    "止损放在前低下方，不放在整数关口",
    "滑点超过 0.5% 时先询问",
)


@pytest.fixture
def li(db: None) -> User:
    """An owner who reads Chinese and stored Chinese, with something in every state."""
    now = timezone.now()
    li: User = make_user("li", display_name="李明", language="zh-hans", time_zone="Asia/Shanghai")
    person, actor = browser(li), f"user:{li.pk}"
    for source in Source:
        make_memory(li, TEXTS[1], category=Category.LESSON, source=source, at=now - timedelta(days=2))
    for n in range(55):
        make_memory(li, f"{TEXTS[n % 4]}（{n}）", at=now - timedelta(minutes=90 - n))
    for title in ("晨间复盘", "午间检查", "收盘总结"):
        snapshot = start_session(owner=li, title=title, actor=actor, now=now - timedelta(minutes=20))
    end_session(owner=li, session_id=snapshot.pk, actor=actor, now=now)
    edit = Changes(content="单笔仓位不超过总资金的 2%", fact_type="风控", tickers=("BTC",))
    newest = Memory.objects.latest("pk").pk
    edit_memory(principal=person, memory_id=newest, changes=edit, now=now - timedelta(minutes=5), reason="更保守")
    gone = make_memory(li, "已经过时的判断", at=now - timedelta(days=9))
    delete_memories(principal=person, owner=li, ids=[gone.pk], now=now - timedelta(days=4))
    set_entry(owner=li, key="risk_tolerance", value="均衡", actor=actor, now=now)
    create_key(user=li, scopes=[Scope.MEMORY_READ], now=now, actor=actor, label="交易台", networks="10.0.0.0/8")
    return li


@pytest.fixture
def wang(li: User) -> User:
    """An operator who reads Chinese."""
    wang: User = make_user("wang", group="operators", display_name="王芳", language="zh-hans")
    return wang


def test_an_owner(visit: Any, li: User) -> None:
    noticed = Memory.objects.filter(source=Source.INFERRED).get().pk
    gone = Memory.objects.exclude(deleted_at=None).get().pk
    search = [
        'category:lesson "资金费率',
        "仓位 AND",
        "category:没有 仓位",
        "before:从不 止损",
        "仓位 btc",
        "没有这句话",
    ]
    paths = [
        "/",
        "/memories/?" + urlencode({"q": "仓位", "category": "lesson", "没有": 1, "sort": "没有"}),
        "/memories/?q=" + "止损",
        "/memories/?cursor=1",
        f"/memories/{noticed}/",
        f"/memories/{gone}/",
        f"/memories/new/?corrects={noticed}",
        "/prompt/?show=diff",
        "/prompt/?show=now",
        *(f"/search/?{urlencode({'q': query})}" for query in search),
    ]
    pages = {item.url_name for group in NAV for item in group.items if permits(item.act, Role.USER, None)}
    assert crawl(visit(li), *paths) >= pages | {"memories:edit", "access:key_new", "access:key_revoke"}


def test_an_operator(visit: Any, wang: User) -> None:
    memory = Memory.objects.live().latest("pk").pk
    paths = ["/", "/memories/?owner=all", "/memories/?owner=li", "/search/?q=btc&owner=all", "/prompt/?owner=li"]
    crawl(visit(wang), *paths, f"/memories/{memory}/delete/", follow=False)


def test_somebody_with_nothing_and_support(visit: Any) -> None:
    crawl(visit(make_user("zhao", language="zh-hans")), "/")
    crawl(visit(make_user("qian", language="zh-hans", group="support")), "/")


def test_a_stranger(visit: Any) -> None:
    console = visit()
    console.context.set_extra_http_headers({"Accept-Language": "zh-CN,zh;q=0.9"})
    token = issue_setup_link(now=timezone.now())
    crawl(console, "/login", f"/welcome/{token}/")


def test_what_acts_say(visit: Any, li: User) -> None:
    console = visit(li)
    page = console.open("/memories/")
    page.locator("tbody input[name=ids]").first.check()
    expect(page.locator("[data-selected]")).to_have_text("已选 1 行")
    page.locator(".bulk [data-act=delete]").click()
    expect(page.locator("[data-toast] > span")).to_have_text("已删除 1 条记忆。30 天内可以恢复。")
    faults = faults_here(console)
    page.locator("[data-undo] button").click()
    expect(page.locator("[data-toast] > span")).to_have_text("已撤销对 1 条记忆的操作。")

    page = console.open("/settings/keys/new/")
    page.get_by_role("button", name="创建密钥").click()
    faults += faults_here(console)
    page.locator("input[name=label]").fill("交易台")
    page.locator("input[name=scopes]").first.check()
    page.get_by_role("button", name="创建密钥").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("您的新密钥")
    faults += faults_here(console)

    page = console.open("/settings/security/password/")
    for name in ("old_password", "new_password1", "new_password2"):
        page.locator(f"input[name={name}]").fill("123456789012")
    page.get_by_role("button", name="更改密码").click()
    expect(page.locator(".error").first).to_have_text("当前密码不正确。再输入一次。")
    faults += faults_here(console)

    console.open("/nowhere/")
    assert faults + faults_here(console) == []


def test_a_conflict(visit: Any, li: User) -> None:
    console = visit(li)
    mine = Memory.objects.filter(source=Source.USER_MANUAL, deleted_at=None).latest("pk")
    page = console.open(f"/memories/{mine.pk}/edit/")
    edit_memory(
        principal=browser(li), memory_id=mine.pk, changes=Changes(content="单笔仓位不超过 1%"), now=timezone.now()
    )
    page.locator("textarea").fill("单笔仓位不超过 5%")
    page.get_by_role("button", name="保存", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"记忆 {mine.pk} 已被更改")
    assert faults_here(console) == []
