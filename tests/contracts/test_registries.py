"""What must hold for everything that is registered: every list, job, tool and audit act. A new part writes only its own."""

import ast
import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from django.urls import resolve, reverse
from django.utils import timezone

from memory_app.bundle.core.plan import Channel
from memory_app.doctor.fixes.names import FixName
from memory_app.facts.services import decide, undo
from minara_site.access.access_log import load_access_subjects
from minara_site.access.policy import Act, Role, permits
from minara_site.access.principal import Principal
from minara_site.agent.catalogue import load_tools
from minara_site.kernel import registry
from minara_site.kernel.audit_log.table import load_acts
from minara_site.kernel.errors import NotFound
from minara_site.kernel.guard.kinds import stored_kinds
from minara_site.kernel.jobs import runner
from minara_site.kernel.jobs.models import JobRun
from minara_site.kernel.jobs.services import request_run
from minara_site.kernel.jobs.table import load_jobs
from minara_site.kernel.rollback import list_effects, rollback_kinds, written_acts
from minara_site.shell.nav import SIDE_BAR, find_place, load_entries
from minara_site.shell.review import review_kinds
from profile_app.documents.core import DocumentKind
from tests.contracts.doors import pages
from tests.contracts.judges import LOGS
from tests.hostile.knock import pages_for_get
from tests.hostile.markup import Markup
from tests.kit.rows import all_rows, changed_tables
from tests.kit.site import APPS, ROOT
from tests.kit.tables import Faults, taken_back
from tests.kit.world import World, fill

LIST = re.compile(r'id="([\w-]+)-rows"')
RECORDED = re.compile(r"""(?:tool_call=|record_act\(|note_change\(|record\(principal, )["']([a-z_]+)["']""")
BESIDE_NAVIGATION = {None, Act.SIGN_OUT, Act.METRICS} | {act for act in Act if permits(act, Role.ANONYMOUS, None)}
LOGGING = {
    "log_access",
    "log_opened",
    "answer_page",
    "answer_list",
    "log_listed",
    "OwnedList",
    "open_profile",
    "open_owner",
    "Reveals",
    "TripKind",
}  # what writes lines of the access log, their `kind` by name
OF_A_RUN = LOGS | {
    "job_runs",
    "leases",
    "workers_seen",
    "audit_log",
    "audit_seals",
    "search_index",
    "methodology_cron_runs",
}


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
    for name, tool in load_tools().items():
        definition = tool.definition()
        assert set(definition) == {"name", "description", "input_schema"}, name
        assert definition["input_schema"]["type"] == "object", name
        assert {"reasoning", *tool.arguments.model_fields} == set(definition["input_schema"]["properties"]), name


def acts_recorded() -> tuple[set[str], str]:
    """Return the acts that the product records by name or puts together, and its text without the lists of acts."""
    modules = [path for app in APPS for path in (ROOT / app).rglob("*.py") if path.name != "acts.py"]
    source = "\n".join(path.read_text() for path in modules if path.parent.name != "migrations")
    together = {f"{kind}_{decision}" for kind in stored_kinds() for decision in ("held", "released", "discarded")}
    together |= {f"{kind}_written" for kind in DocumentKind}
    together |= {f"memory_import.{channel}" for channel in Channel} | {f"doctor.fix.{fix}" for fix in FixName}
    together |= {act.undone_as for act in load_acts().values() if act.undone_as}
    together |= {name for name, tool in load_tools().items() if tool.is_read_only}
    together |= {*decide.AUDIT_WORDS.values(), *undo.AUDIT_WORDS.values()}
    return together | set(RECORDED.findall(source)), source


def test_every_act_that_the_code_records_is_declared_and_every_declared_one_is_recorded() -> None:
    recorded, source = acts_recorded()
    assert {"memory_write", "job_requested", "password_changed"} <= recorded
    assert recorded - load_acts().keys() == set()
    assert {name for name in load_acts().keys() - recorded if f'"{name}"' not in source} == set()


def test_every_subject_of_the_access_log_is_declared_and_every_declared_one_is_logged() -> None:
    sources = [path.read_text() for app in APPS for path in (ROOT / app).rglob("*.py")]
    calls = [node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in LOGGING]
    words = [word.value for call in named for word in call.keywords if word.arg == "kind"]
    assert {word.value for word in words if isinstance(word, ast.Constant)} == load_access_subjects().keys()


def test_what_writers_write_changes_the_prompt_but_for_what_waits_there() -> None:
    acts = load_acts()
    outside = [
        "methodology_created",
        "deployment_changed",
        "learning_stored",
        "learning_edited",
        "preference_proposed",
    ]
    assert [name for name in written_acts() if not acts[name].changes_prompt] == outside, (
        "quarantined, suggested, waiting"
    )


def test_every_kind_that_is_rolled_back_has_acts_effects_and_names_of_its_own() -> None:
    faults, kinds = Faults(), rollback_kinds()
    for kind in kinds:
        with faults.row(kind.name):
            assert kind.writes.keys() <= load_acts().keys()
            assert set(kind.import_acts) <= kind.writes.keys()
            named = {effect.name for effect in kind.effects if not effect.follows}
            assert set(kind.writes.values()) == (set() if getattr(kind, "of_runs", False) else named)
            assert all(each.title and each.on_roll_back and each.on_undo for each in kind.effects)
            assert kind.label
            assert kind.audit_key not in {"rollback", "writer", "batch", "plan_sha256", "count"}
            assert kind.record_key not in {"why", "owner", "by"}
    faults.show()
    names = [effect.name for effect in list_effects()]
    assert len(set(names)) == len(names)
    assert sum(len(kind.writes) for kind in kinds) == len(written_acts())
    assert len({kind.audit_key for kind in kinds}) == len({kind.record_key for kind in kinds}) == len(kinds) >= 2


def test_the_navigation_leads_to_every_page_that_needs_no_argument() -> None:
    """Each page is declared with the act that it requires, and some role finds it; no other page is below no tab."""
    faults = Faults()
    entries = {role: load_entries(Principal(role=role)) for role in SIDE_BAR}
    found = {tab.name for role in SIDE_BAR for entry in entries[role] for tab in entry.tabs}
    for each in registry.load("navigation").values():
        with faults.row(each.name):
            assert {resolve(reverse(name)).func.act for name in (each.url_name, *each.also)} >= {each.act}
            assert each.name in found
    for page in pages():
        if page.act in BESIDE_NAVIGATION or "GET" not in page.methods or "<" in page.route:
            continue
        if page.route == "reauthenticate":  # without a side bar, as the pages to sign in
            continue
        with faults.row(page.route):
            assert any(
                find_place(entries[role], f"/{page.route}") for role in SIDE_BAR if permits(page.act, role, None)
            )
    faults.show()


@pytest.mark.django_db
def test_every_kind_of_the_review_queue_has_a_name_for_addresses_an_age_and_refuses_what_it_does_not_know() -> None:
    faults, kinds = Faults(), review_kinds()
    for name, kind in kinds.items():
        with faults.row(name):
            assert re.fullmatch("[a-z_]+", name), "a dash parts the kind of an item from its key"
            assert not kind.waiting().model._meta.get_field(kind.since).null
            assert list(kind.waiting().order_by(kind.since, "pk")) == []
            assert {str(each.label) for each in kinds.values() if each.tab == kind.tab} == {str(kind.label)}
            for unknown in ("987654321", "no such key"):
                with pytest.raises(NotFound):
                    kind.find([unknown])
    faults.show()
    assert kinds
