"""What must hold for everything that is registered: every list, job, tool and audit act. A new part writes only its own."""

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from minara_site.agent.catalogue import TOOLS
from minara_site.console.audit_log.words import WORDS
from minara_site.kernel.jobs import runner
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.services import request_run
from minara_site.kernel.jobs.table import load_jobs
from tests.contracts.judges import LOGS
from tests.hostile.knock import pages_for_get
from tests.hostile.markup import Markup
from tests.kit.rows import all_rows, changed_tables
from tests.kit.site import APPS, ROOT
from tests.kit.tables import Faults, taken_back
from tests.kit.world import World, fill

LIST = re.compile(r'id="([\w-]+)-rows"')
RECORDED = re.compile(r"""(?:tool_call=|record_act\(|note_change\(|record\(principal, )["']([a-z_]+)["']""")
OF_A_RUN = LOGS | {"job_runs", "leases", "workers_seen", "audit_log", "audit_seals", "search_index"}


def lists_of(world: World) -> Iterator[tuple[str, str, str]]:
    """Yield caller, address and name of every list that a page shows to Ana, or else to an operator."""
    seen = set()
    for caller in ("ana", "olga"):
        for route in pages_for_get():
            answer = world.callers[caller].call("GET", fill(route, world.ana.samples))
            is_page = answer.status_code == 200 and "html" in answer.headers["Content-Type"]
            for name in LIST.findall(answer.content.decode()) if is_page else ():
                if (route, name) not in seen:
                    seen.add((route, name))
                    yield caller, fill(route, world.ana.samples), name


def test_every_list_answers_its_own_links_and_what_nobody_linked(world: World) -> None:
    """Sorts and filters that it offers, pages that are fragments for HTMX, and notices for what it does not know."""
    faults, names = Faults(), set()
    for caller, address, name in lists_of(world):
        names.add(name)
        with faults.row(f"{address} as {caller}"):
            person = world.callers[caller]
            fragment = person.wire.send("GET", address, **person.headers, **{"HX-Request": "true"})
            assert "<html" not in fragment.content.decode()
            page = Markup(person.call("GET", address).content.decode())
            own = [link for link in page.links if link.startswith(("?", f"{address}?"))]
            for link in own[:12]:
                answer = person.call("GET", link if link.startswith("/") else address + link)
                assert answer.status_code in {200, 303}, link  # held texts have a page of their own
            for odd in ({"cursor": "x"}, {"sort": "x"}, {"nobody_knows": "x"}):
                joined = "&" if "?" in address else "?"
                answer = person.call("GET", f"{address}{joined}{urlencode(odd)}")
                assert answer.status_code == 200, odd
    faults.show()
    assert len(names) >= 12


@pytest.mark.database
def test_every_job_that_anybody_can_start_may_run_twice(world: World) -> None:
    """It ends well on a world that has one of everything, and a second run right after finds nothing left to do."""
    faults, now = Faults(), timezone.now()
    jobs = [job for job in load_jobs().values() if not job.needs_arguments]
    for job in jobs:
        with faults.row(job.name), taken_back("default"):
            dumps = []
            for _time in range(2):
                run = request_run(job.name, {}, now=now, requested_by="test")
                runner.execute(run.pk)
                assert JobRun.objects.get(pk=run.pk).state == "succeeded", JobRun.objects.get(pk=run.pk).error
                dumps.append(all_rows(without=OF_A_RUN))
            assert changed_tables(*dumps) == set()
    faults.show()
    assert len(jobs) >= 10


def test_every_tool_is_one_that_the_messages_api_takes() -> None:
    for name, tool in TOOLS.items():
        definition = tool.definition()
        assert set(definition) == {"name", "description", "input_schema"}, name
        assert definition["input_schema"]["type"] == "object", name
        assert {"reasoning", *tool.arguments.model_fields} == set(definition["input_schema"]["properties"]), name


def test_every_act_that_the_code_records_has_words_on_the_screen() -> None:
    modules = [path for app in APPS for path in (ROOT / app).rglob("*.py")]
    recorded = {name for path in modules for name in RECORDED.findall(path.read_text())}
    assert {"memory_write", "job_requested", "password_changed"} <= recorded
    assert recorded - WORDS.keys() == set()
