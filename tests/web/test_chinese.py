"""Every page and many states in Simplified Chinese: no Latin word is left that is no identifier (screens U-29)."""

from datetime import timedelta
from urllib.parse import urlencode, urlsplit

import pytest
from django.test import Client
from django.urls import resolve
from django.utils import timezone

from memory_app.memories.models import Memory
from memory_app.memories.services import Changes, delete_memories, edit_memory
from memory_app.user_profile.services import set_entry
from minara_site.access.keys.services import create_key
from minara_site.access.models import User
from minara_site.access.policy import Role, Scope, permits
from minara_site.access.principal import Principal
from minara_site.access.setup import issue_setup_link
from minara_site.kernel import registry
from minara_site.kernel.core.vocabulary import Category, Source
from profile_app.prompt.services import end_session, start_session
from tests.kit.fixtures import make_user
from tests.kit.visitor import visitor
from tests.memory_app.memories.factories import make_memory
from tests.web.chinese import Reader, words_left

pytestmark = pytest.mark.django_db
NO_PAGES = {"prompt:text", "audit_log:export", "doctor:anonymous"}  # plain text, downloads
FOREIGN = "api:"  # the API's document and its viewer, which django-ninja brings
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
    person, actor = Principal(user=li, role=li.role), f"user:{li.pk}"
    for source in Source:
        make_memory(li, TEXTS[1], category=Category.LESSON, source=source, at=now - timedelta(days=2))
    for n in range(55):
        make_memory(li, f"{TEXTS[n % 4]}（{n}）", at=now - timedelta(minutes=90 - n))
    for title in ("晨间复盘", "午间检查", "收盘总结"):
        snapshot = start_session(owner=li, title=title, actor=actor, now=now - timedelta(minutes=20))
    end_session(owner=li, session_id=snapshot.pk, actor=actor, now=now)
    edit = Changes(content="单笔仓位不超过总资金的 2%", fact_type="风控", tickers=("BTC",))
    newest = Memory.objects.latest("pk").pk
    edit_memory(
        principal=person,
        memory_id=newest,
        changes=edit,
        now=now - timedelta(minutes=5),
        reason="更保守",
    )
    gone = make_memory(li, "已经过时的判断", at=now - timedelta(days=9))
    delete_memories(principal=person, owner=li, ids=[gone.pk], now=now - timedelta(days=4))
    set_entry(owner=li, key="risk_tolerance", value="均衡", actor=actor, now=now)
    create_key(user=li, scopes=[Scope.MEMORY_READ], now=now, actor=actor, label="交易台", networks="10.0.0.0/8")
    return li


def view_of(path: str) -> str:
    return resolve(urlsplit(path).path).view_name


def crawl(client: Client, *paths: str, follow: bool = True) -> set[str]:
    """Read these pages, then one of each view that links lead to; return the views. Fail with all faults at once."""
    seen: set[str] = set()
    faults: list[str] = []
    links: list[str] = []

    def read(path: str) -> None:
        seen.add(view_of(path))
        answer = client.get(path, follow=True)
        markup = answer.content.decode()
        faults.extend(f"{path}: {fault}" for fault in words_left(markup))
        faults.extend([f"{path}: answers {answer.status_code}"] if answer.status_code != 200 else [])
        links.extend(link for link in Reader(markup).links if follow and link.startswith("/"))

    for path in paths:
        read(path)
    for link in links:
        if view_of(link) not in seen | NO_PAGES and not view_of(link).startswith(FOREIGN):
            read(link)
    assert faults == []
    return seen


def test_an_owner(li: User) -> None:
    noticed = Memory.objects.filter(source=Source.INFERRED).get().pk
    gone = Memory.objects.exclude(deleted_at=None).get().pk
    faulty = ('category:lesson "资金费率', "仓位 AND", "category:没有 仓位", "before:从不 止损")
    search = (*faulty, "仓位 btc", "没有这句话")
    paths = [
        "/",
        "/memories/?" + urlencode({"q": "仓位", "category": "lesson", "没有": 1, "sort": "没有"}),
        "/memories/?" + urlencode({"q": "止损"}),
        "/memories/?cursor=1",
        f"/memories/{noticed}/",
        f"/memories/{gone}/",
        f"/memories/new/?corrects={noticed}",
        "/prompt/?show=diff",
        "/prompt/?show=now",
        *(f"/search/?{urlencode({'q': query})}" for query in search),
    ]
    declared = registry.load("navigation").values()
    pages = {each.url_name for each in declared if Role.USER in each.roles and permits(each.act, Role.USER, None)}
    assert crawl(visitor(li), *paths) >= pages | {"memories:edit", "access:key_new", "access:key_revoke"}


def test_an_operator(li: User) -> None:
    wang = make_user("wang", group="operators", display_name="王芳", language="zh-hans")
    memory = Memory.objects.live().latest("pk").pk
    paths = ["/", "/memories/?owner=all", "/memories/?owner=li", "/search/?q=btc&owner=all", "/prompt/?owner=li"]
    crawl(visitor(wang), *paths, f"/memories/{memory}/delete/", follow=False)


def test_somebody_with_nothing_and_support() -> None:
    crawl(visitor(make_user("zhao", language="zh-hans")), "/")
    crawl(visitor(make_user("qian", language="zh-hans", group="support")), "/")


def test_a_stranger() -> None:
    stranger = Client(headers={"Accept-Language": "zh-CN,zh;q=0.9"})
    crawl(stranger, "/login", f"/welcome/{issue_setup_link(now=timezone.now())}/")


def test_what_leads_nowhere(li: User) -> None:
    assert list(words_left(visitor(li).get("/nowhere/").content.decode())) == []


@pytest.mark.usefixtures("db")
def test_what_is_left_in_english_is_found() -> None:
    page = '<html lang="{}"><title>记忆 Minara</title><p title="Delete">删除 <code>rm</code> <b class="mono">0x</b><br> Save</p>'
    assert list(words_left(page.format("zh-Hans"))) == ["“Delete” in “Delete”", "“Save” in “Save”"]
    assert next(words_left(page.format("en"))) == "is in en"
