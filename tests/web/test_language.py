"""The console in Simplified Chinese: a whole catalogue that is served as it is committed, and who reads what in which
language (screens U-29)."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from minara_site.web.labels import enumeration, sentences
from minara_site.web.moments import age, day, day_and_time, exact, money_label, number_label, span_label
from tests.kit.tables import table
from tests.web.catalogue import FOLDER, Entry, read_mo, read_po, used_messages

HAN = "\u3400-\u9fff"
MARKS = re.compile(r"%(?:\(\w+\))?[sd]|%%|\{\w+\}|<[^>]+>")
SPANS = re.compile(r"%\((?:span|left|today)\)s")  # begin or end with Han
ADVICE = "run: manage.py makemessages -l zh_Hans --no-location --ignore=.venv --ignore=tests; translate; manage.py compilemessages"


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return read_po(FOLDER / "django.po")


@pytest.fixture
def chinese() -> Any:
    with translation.override("zh-hans"):
        yield


class TestCatalogue:
    def test_says_what_it_is(self, entries: list[Entry]) -> None:
        header = dict(line.split(": ", 1) for line in entries[0].text.splitlines())
        assert header["Project-Id-Version"] == "Minara"
        assert header["Language"] == "zh_Hans"
        assert header["Content-Type"] == "text/plain; charset=UTF-8"
        assert header["Plural-Forms"] == "nplurals=1; plural=0;"
        assert "@" not in entries[0].text

    def test_has_every_message_and_no_other(self, entries: list[Entry]) -> None:
        used, known = used_messages(), {entry.key for entry in entries[1:]}
        missing = {key: path for key, path in used.items() if key not in known}
        assert (missing, known - used.keys()) == ({}, set()), ADVICE

    def test_translates_every_message_for_certain(self, entries: list[Entry]) -> None:
        assert [entry.key for entry in entries if not entry.text] == []
        assert [entry.key for entry in entries if any("fuzzy" in comment for comment in entry.comments)] == []

    def test_compiled_it_is_the_same(self, entries: list[Entry]) -> None:
        compiled = read_mo(FOLDER / "django.mo")
        assert "charset=UTF-8" in compiled.pop("")
        assert compiled == {entry.key: entry.text for entry in entries[1:]}, ADVICE

    def test_keeps_placeholders_and_tags(self, entries: list[Entry]) -> None:
        for entry in entries[1:]:
            assert sorted(MARKS.findall(entry.text)) == sorted(MARKS.findall(entry.texts["msgid"])), entry.text


class TestTypography:
    @pytest.fixture
    def texts(self, entries: list[Entry]) -> list[str]:
        """The Chinese sentences, spans as Han and other placeholders as a digit."""
        texts = [
            MARKS.sub("", SPANS.sub("时", entry.text)) if "<" in entry.text else entry.text for entry in entries[1:]
        ]
        return [MARKS.sub("9", SPANS.sub("时", text)) for text in texts if re.search(f"[{HAN}]", text)]

    def test_a_blank_stands_between_han_and_latin(self, texts: list[str]) -> None:
        assert [text for text in texts if re.search(f"[{HAN}][A-Za-z0-9]|[A-Za-z0-9%][{HAN}]", text)] == []

    def test_punctuation_is_full_width(self, texts: list[str]) -> None:
        assert [text for text in texts if re.search(f"[{HAN}][,;:!?.(]|[,;:!?.)][{HAN}]", text)] == []

    def test_the_reader_is_addressed_politely(self, texts: list[str]) -> None:
        assert [text for text in texts if "你" in text] == []


@pytest.mark.usefixtures("chinese")
class TestTimesAndNumbers:
    NOW = datetime(2026, 6, 12, 14, 20, tzinfo=UTC)

    @table(
        ("span", "words"),
        [
            (timedelta(seconds=30), "刚刚"),
            (timedelta(minutes=1), "1 分钟前"),
            (timedelta(hours=5), "5 小时前"),
            (timedelta(days=3), "3 天前"),
            (timedelta(days=-3), "3 天后"),
            (timedelta(days=40), "2026-05-03"),
        ],
    )
    def test_ages(self, span: timedelta, words: str) -> None:
        assert age(self.NOW - span, self.NOW) == words

    def test_moments(self) -> None:
        assert span_label(timedelta(minutes=9)) == "9 分钟"
        assert day(self.NOW, UTC) == "2026-06-12"
        assert day_and_time(self.NOW, UTC) == "2026-06-12 14:20"
        assert exact(self.NOW, UTC) == "2026-06-12 14:20:00 UTC"

    def test_numbers(self) -> None:
        labels = (number_label(12345), number_label(-1.5, 1), money_label(Decimal(-3)))
        assert labels == ("12,345", "\u22121.5", "\u2212$3.00")
        assert number_label(None) == "数据不足"

    def test_one_form_for_one_and_many(self) -> None:
        one, many = (
            translation.ngettext("%(number)s memory written", "%(number)s memories written", n) for n in (1, 2)
        )
        assert one == many == "写入 %(number)s 条记忆"

    def test_rows_and_sentences_take_no_blanks(self) -> None:
        assert enumeration(["导入 2 条", "删除 1 条"]) == "导入 2 条，删除 1 条"
        assert sentences("已保存。", "没有更改。") == "已保存。没有更改。"


@pytest.mark.django_db
class TestWhoReadsWhat:
    @table(
        ("asked", "spoken"),
        [
            ("zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"),
            ("zh-Hans-CN", "zh-Hans"),
            ("zh", "zh-Hans"),
            ("en-GB,zh;q=0.5", "en"),
            ("de", "en"),
            ("de,zh-CN;q=0.4", "zh-Hans"),
            ("", "en"),
        ],
    )
    def test_a_stranger_reads_what_the_browser_asks_for(self, client: Client, asked: str, spoken: str) -> None:
        response = client.get("/login", headers={"Accept-Language": asked})
        assert f'<html lang="{spoken}"' in response.content.decode()
        assert response["Content-Language"] == spoken.lower()
        assert "Accept-Language" in response["Vary"]

    @table(("chosen", "asked", "spoken"), [("zh-hans", "en", "zh-Hans"), ("en", "zh", "en")])
    def test_a_choice_of_ones_own_comes_first(
        self,
        client: Client,
        ana: Any,
        chosen: str,
        asked: str,
        spoken: str,
    ) -> None:
        ana.language = chosen
        ana.save()
        client.force_login(ana)
        response = client.get("/", headers={"Accept-Language": asked})
        assert f'<html lang="{spoken}"' in response.content.decode()

    def test_languages_are_offered_in_their_own_names(self, client: Client, ana: Any) -> None:
        client.force_login(ana)
        for language in ("zh", "en"):
            html = client.get("/settings/", headers={"Accept-Language": language}).content.decode()
            assert ">English</option>" in html
            assert ">简体中文</option>" in html

    def test_machines_get_english(self, client: Client, ana: Any) -> None:
        ana.language = "zh-hans"
        ana.save()
        client.force_login(ana)
        for response in (
            client.get("/v1/memories/999999", headers={"Accept-Language": "zh"}),
            client.post(
                "/v1/memories",
                {"nope": 1},
                content_type="application/json",
                headers={"Accept-Language": "zh"},
            ),
            client.get("/v1/nowhere", headers={"Accept-Language": "zh"}),
            client.delete("/v1/memories", headers={"Accept-Language": "zh"}),
        ):
            assert response.status_code >= 400
            assert response.content.isascii(), response.content.decode()
            assert "Accept-Language" not in response.get("Vary", "")


@pytest.mark.django_db
class TestWhatDjangoSays:
    """Forms of Django and allauth, and what is refused before the reader is known."""

    CHINESE = {"Accept-Language": "zh-CN"}

    def errors(self, response: Any) -> list[str]:
        return re.findall(
            r"<span>([^<]+)</span>",
            "".join(re.findall(r'role="alert">(.*?</span>)</span>', response.content.decode())),
        )

    def test_sign_in(self, client: Client, ana: Any) -> None:
        empty = client.post("/login", {}, headers=self.CHINESE)
        assert self.errors(empty) == ["这个字段是必填项。", "这个字段是必填项。"]
        wrong = client.post(
            "/login",
            {"login": "ana", "password": "x"},
            headers=self.CHINESE,
        ).content.decode()
        assert "用户名与密码不匹配。检查两者；密码错误 5 次后，登录将锁定 15 分钟。" in wrong

    def test_a_password_that_is_too_weak(self, client: Client, ana: Any) -> None:
        client.force_login(ana)
        weak = {"old_password": "no", "new_password1": "12345678", "new_password2": "12345678"}
        said = [
            "当前密码不正确。再输入一次。",
            "密码太短，至少需要 12 个字符。",
            "这个密码太常见了。",
            "密码只包含数字。",
        ]
        assert self.errors(client.post("/settings/security/password/", weak, headers=self.CHINESE)) == said

    def test_values_that_do_not_fit(self, client: Client, ana: Any) -> None:
        client.force_login(ana)
        values = {"theme": "blue", "density": "compact", "time_zone": "UTC", "display_name": "x" * 81}
        said = ["最多 80 个字符（现有 81 个）。", "选择有效的选项。“blue”不在可用的选项中。"]
        assert self.errors(client.post("/settings/", values, headers=self.CHINESE)) == said

    @table(
        ("act", "said"),
        [
            (lambda client: client.get("/nowhere/"), "这里没有内容"),
            (lambda client: client.get("/\0/"), "无法读取此请求"),
            (lambda client: client.get("/", headers={"Host": "evil.example"}), "无法读取此请求"),
            (lambda client: client.post("/login", {}), "您无权访问"),
            (lambda client: client.post("/login", {"login": "x" * 2**20}), "内容过大"),
        ],
    )
    def test_refusals(self, act: Any, said: str) -> None:
        html = act(Client(enforce_csrf_checks=True, headers=self.CHINESE)).content.decode()
        assert '<html lang="zh-Hans"' in html
        assert f"<h1>{said}</h1>" in html
