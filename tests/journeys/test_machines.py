"""Two machines with data folders of their own act as one on one PostgreSQL and one Redis; a lost database comes back."""

import json
import shutil
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.cookiejar import CookieJar
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from tests.journeys.proxy import Proxy
from tests.journeys.reader import PageParser
from tests.kit.brokers import private_redis
from tests.kit.site import SERVER_URL, Site, free_port, wait_until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.database,
    pytest.mark.skipif(not SERVER_URL, reason="SQLite is a file of one machine"),
]
PASSWORD = "correct horse battery"
SECRET = {"MINARA_SECRET_KEY": "one key for both machines"}


class Answer(NamedTuple):
    status: int
    url: str
    headers: Any
    body: bytes


class Traveller:
    """A person, or an agent with a key, whose every request reaches the next machine."""

    def __init__(self, ports: list[int], key: str = "") -> None:
        self.ports, self.key = cycle(ports), key
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def ask(self, path: str, data: bytes | None = None, kind: str = "", method: str | None = None) -> Answer:
        headers = {"Content-Type": kind} if kind else {}
        headers |= {"Authorization": f"Bearer {self.key}"} if self.key else {}
        url = f"http://127.0.0.1:{next(self.ports)}{path}"
        try:
            found = self.opener.open(urllib.request.Request(url, data, headers, method=method), timeout=20)
        except urllib.error.HTTPError as error:
            found = error
        with found:
            parts = urlsplit(found.url)
            return Answer(
                found.status,
                f"{parts.path}?{parts.query}".rstrip("?"),
                found.headers,
                found.read(),
            )

    def press(self, page: Answer, button: str, **typed: Any) -> Answer:
        """Fill in the form with this button and send it to the other machine."""
        parser = PageParser()
        parser.feed(page.body.decode())
        form = next(each for each in parser.forms for words in each.buttons if words.words.startswith(button))
        fields = {**form.fields, **typed}
        path = form.action if form.action.startswith("/") else page.url
        return self.ask(path, encode_multipart(BOUNDARY, fields), MULTIPART_CONTENT)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Call the API; return what is in the answer."""
        answer = self.ask(
            path,
            None if body is None else json.dumps(body).encode(),
            "application/json",
            method,
        )
        assert answer.status < 300, answer
        return json.loads(answer.body)["data"]


def begin(folder: str) -> str:
    """Make a person with a key, and the folder of their agent files on this machine."""
    from django.utils import timezone

    from profile_app.workspace.services.setup import set_up
    from tests.kit.api import key_of
    from tests.kit.fixtures import make_user

    ana = make_user("ana")
    set_up(owner=ana, path=Path(folder), actor="command:setup", now=timezone.now())
    return key_of(ana)


class Machines(NamedTuple):
    sites: list[Site]
    ports: list[int]
    proxy: Proxy
    key: str


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory, migrated_site: Site) -> Iterator[Machines]:
    """Two machines that run; the second one reaches the server through a proxy, with a pool."""
    base = tmp_path_factory.mktemp("machines")
    first = Site(base / "first", template=migrated_site)
    second = Site(base / "second", database=first.database)
    parts = urlsplit(first.url)
    ports = [free_port(), free_port()]
    with private_redis(base) as redis, Proxy(parts.hostname or "", parts.port or 5432) as proxy:
        jobs = {"MINARA_JOBS": "celery", "MINARA_BROKER_URL": redis.url}
        second.folder.mkdir()
        pooled = {"DATABASE_URL": parts._replace(netloc=f"{parts.username}@127.0.0.1:{proxy.port}").geturl()}
        second.environment |= pooled | {"MINARA_DATABASE_CONNECTIONS": "4"}
        for site in (first, second):
            site.environment |= SECRET | jobs
        try:
            key = first.call(f"{__name__}:begin", str(base / "agent"))
            (base / "agent/USER.md").write_text("Edited on the first machine.")
            start(first, ports[0])
            wait_until(lambda: first.get(ports[0], "/healthz") == 200)
            shutil.copytree(first.folder / "static", second.folder / "static")
            start(second, ports[1])
            wait_until(lambda: all(first.get(port, "/readyz") == 200 for port in ports))
            yield Machines([first, second], ports, proxy, key)
        finally:
            second.close()
            first.close()


def start(site: Site, port: int) -> None:
    process = site.start("up", "--port", str(port), "--workers", "1")
    threading.Thread(target=lambda: list(process.stdout or ()), daemon=True).start()


def test_what_one_machine_begins_the_other_continues(machines: Machines) -> None:
    person = Traveller(machines.ports)
    home = person.press(person.ask("/login"), "Sign in", login="ana", password=PASSWORD)
    assert (home.url, home.status) == ("/", 200)
    assert [person.ask("/memories/").url for _machine in "ab"] == ["/memories/"] * 2

    # an upload on one, confirmed on the other, whichever worker read it
    file = SimpleUploadedFile("a.jsonl", b'{"content": "quokka rides the trend"}')
    shown = person.press(person.ask("/ops/import/"), "Preview", format="jsonl", file=file)
    path = shown.url
    wait_until(lambda: b"quokka rides" in person.ask(path).body)
    assert person.press(person.ask(f"{path}apply/"), "Apply").status == 200
    wait_until(lambda: b"quokka rides" in person.ask("/memories/").body)

    # an export asked for on one, downloaded from the other
    path = person.press(person.ask("/ops/export/"), "Create export").url
    wait_until(lambda: b"/download/" in person.ask(path).body)
    for _machine in "ab":
        with ZipFile(BytesIO(person.ask(f"{path}download/").body)) as archive:
            assert any(b"quokka rides" in archive.read(name) for name in archive.namelist())


def test_an_agent_reads_the_same_on_both_and_is_counted_together(machines: Machines) -> None:
    agent = Traveller(machines.ports, machines.key)
    session = agent.call("POST", "/v1/sessions", {"title": "first"})["id"]
    prompts = [agent.call("GET", f"/v1/sessions/{session}/prompt") for _machine in "ab"]
    assert prompts[0] == prompts[1]
    assert "Edited on the first machine." in json.dumps(prompts[0])
    assert [agent.call("GET", "/v1/workspace/USER.md")["content"] for _machine in "ab"] == [
        "Edited on the first machine."
    ] * 2

    def are_counted_together() -> bool:  # unless a minute ends meanwhile
        left = [int(agent.ask("/v1/memory").headers["RateLimit-Remaining"]) for _call in range(4)]
        return left == list(range(left[0], left[0] - 4, -1))

    wait_until(are_counted_together, seconds=20)


def test_another_secret_key_is_refused_in_one_sentence(machines: Machines) -> None:
    code, output = machines.sites[1].run("worker", MINARA_SECRET_KEY="another")
    assert code != 0
    assert len(output.strip().splitlines()) == 1
    assert "copy the file secret_key" in output


def test_a_database_that_is_away_is_503_and_well_again_without_a_restart(machines: Machines) -> None:
    port = machines.ports[1]
    agent, site = Traveller([port], machines.key), machines.sites[1]
    statement = json.dumps({"statement": "written while it was away"}).encode()
    machines.proxy.close()
    for _call in range(2):
        answer = agent.ask("/v1/memory", statement, "application/json")
        assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
    assert site.get(port, "/healthz") == 200
    assert site.get(machines.ports[0], "/readyz") == 200
    machines.proxy.open()
    wait_until(lambda: site.get(port, "/readyz") == 200)
    assert agent.ask("/v1/memory", statement, "application/json").status == 201
    assert site.query("SELECT COUNT(*) FROM memories WHERE content LIKE 'written while%'") == [(1,)]
