"""The tables: for operators, where they are on, to read, without secrets."""

import sys
from datetime import timedelta

import pytest
from django.apps import apps
from django.conf import settings as configured
from django.urls import clear_url_caches
from django.utils import timezone

from memory_app.memories.models import Memory
from memory_app.memories.services import Draft, write_memory
from memory_app.user_profile.models import UserProfileEntry
from minara_site.access.invitations.services import invite
from minara_site.access.keys.services import create_key
from minara_site.access.models import AccessEntry, ApiKey, Invitation, User
from minara_site.access.policy import Role
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.conversations.services import start_session
from minara_site.kernel.core.vocabulary import Category, Provenance, Source
from minara_site.kernel.idempotency.models import IdempotentCall
from minara_site.kernel.jobs.models import JobRun
from tests.kit.rows import all_rows
from tests.kit.site import Site

pytestmark = pytest.mark.django_db
OURS = {"access", "kernel", "memory_app", "learning_app", "profile_app", "console"}
WORD = "quokkaword"


@pytest.fixture
def tables(settings):
    """Mount them as MINARA_ADMIN does."""
    settings.INSTALLED_APPS = [*configured.INSTALLED_APPS, "minara_site.console.tables.apps.TablesConfig"]
    settings.ROOT_URLCONF = "tests.console.tables.urls"
    clear_url_caches()
    yield
    for name in ("tests.console.tables.urls", "minara_site.console.tables.urls"):
        sys.modules.pop(name, None)
    clear_url_caches()


@pytest.fixture
def rows(ana, now):
    """One row of everything that holds a secret, and a memory."""
    made = invite(username="kim", role=Role.USER, now=now, actor="test")
    draft = Draft(Category.PERSONALIZATION, f"I hold {WORD}", Provenance(Source.USER_MANUAL, "test"))
    asked = {"caller": "key:x", "key": "k", "request_sha256": "f" * 64, "created_at": now}
    answered = {"status": 200, "headers": {"X": WORD}, "body": WORD.encode()}
    return {
        "key": create_key(user=ana, scopes=["memory:read"], now=now, actor="test"),
        "link": made.token,
        "memory": write_memory(owner_id=ana.pk, draft=draft, now=now),
        "call": IdempotentCall.objects.create(**asked, **answered),
    }


def admin(client, path=""):
    return client.get(f"/admin/{path}")


def test_are_nowhere_unless_they_are_on(operator_page):
    assert not configured.MINARA.minara_admin
    assert not apps.is_installed("django.contrib.admin")
    assert admin(operator_page).status_code == 404


@pytest.mark.processes
def test_the_variable_turns_them_on(tmp_path):
    site = Site(tmp_path)
    try:
        look = "from django.core.management import call_command; from django.urls import reverse; call_command('check'); print(reverse('admin:index'))"
        code, output = site.run("shell", "-v0", "-c", look, MINARA_ADMIN="1")
        assert (code, output.splitlines()[-1]) == (0, "/admin/"), output
    finally:
        site.close()


@pytest.mark.usefixtures("tables")
class TestOn:
    def test_open_for_operators_alone_through_our_sign_in(self, client, ana, sam, olga):
        for path in ("", "access/user/", "access/", f"access/user/{ana.pk}/change/"):
            client.logout()
            response = admin(client, path)
            assert (response.status_code, response["Location"]) == (
                302,
                f"/login?next=%2Fadmin%2F{path.replace('/', '%2F')}",
            )
            for user, status in ((ana, 403), (sam, 403), (olga, 200)):
                client.force_login(user)
                assert admin(client, path).status_code == status, (path, user)
        assert admin(client, "login/")["Location"] == "/login?next=%2Fadmin%2F"

    def test_do_not_stop_people_from_being_deleted(self, ana):
        ana.delete()
        assert not User.objects.filter(username="ana").exists()

    def test_show_every_table_of_ours_and_no_other(self, operator_page, rows):
        listed = {each["name"] for app in admin(operator_page).context["app_list"] for each in app["models"]}
        ours = [model for model in apps.get_models() if model._meta.app_label in OURS]
        assert listed == {model._meta.db_table for model in ours}
        for model in ours:
            path = f"{model._meta.app_label}/{model._meta.model_name}/"
            assert admin(operator_page, path).status_code == 200, path
            for row in model.objects.all()[:1]:
                assert admin(operator_page, f"{path}{row.pk}/change/").status_code == 200, path
        for path in ("sessions/session/", "mfa/authenticator/", "usersessions/usersession/", "auth/group/"):
            assert admin(operator_page, path).status_code == 404

    def test_never_show_a_secret(self, operator_page, ana, rows):
        secrets = [
            ana.password,
            ApiKey.objects.get().secret_sha256,
            Invitation.objects.get().token_sha256,
            "f" * 64,
        ]
        key, link, call = ApiKey.objects.get(), Invitation.objects.get(), rows["call"]
        pages = [
            admin(operator_page, path).content.decode()
            for path in (
                "access/user/",
                f"access/user/{ana.pk}/change/",
                f"access/apikey/{key.pk}/change/",
                f"access/invitation/{link.pk}/change/",
                "kernel/idempotentcall/",
                f"kernel/idempotentcall/{call.pk}/change/",
            )
        ]
        assert not [secret for secret in [*secrets, WORD] for page in pages if secret in page]
        assert key.prefix in pages[2]

    def test_mask_the_secrets_of_somebody_else(self, operator_page, olga, ana, now):
        secret = "AKIA" + "Q7ZMXW3TN5RB2KLD"
        mine = Provenance(Source.USER_MANUAL, "test")
        noted = Draft(Category.PERSONALIZATION, f"The key is {secret}", mine, metadata={"note": f"again {secret}"})
        pages = {}
        for owner in (ana, olga):
            memory = write_memory(owner_id=owner.pk, draft=noted, now=now)
            entry = UserProfileEntry.objects.create(owner=owner, key="aws", value=secret, updated_at=now)
            paths = (f"memory_app/memory/{memory.pk}/change/", f"memory_app/userprofileentry/{entry.pk}/change/")
            pages[owner] = [admin(operator_page, path).content.decode() for path in paths]
        assert "The key is AKI•" in pages[ana][0]
        assert "[redacted]" in pages[ana][0]
        assert not [page for page in pages[ana] if secret in page]
        assert all(secret in page for page in pages[olga])
        assert Memory.objects.filter(content__contains=secret).count() == 2

    def test_list_no_text_of_a_session(self, operator_page, ana, now):
        start_session(owner_id=ana.pk, title=WORD, actor="test", now=now)
        assert WORD not in admin(operator_page, "kernel/session/").content.decode()

    def test_answer_no_condition_that_could_tell_a_secret(self, operator_page, ana):
        for query in ("password__startswith=pbkdf2", "api_keys__secret_sha256__startswith=a", "id__exact=1"):
            assert admin(operator_page, f"access/user/?{query}").status_code == 400

    def test_change_nothing(self, operator_page, ana, rows):
        path = f"memory_app/memory/{rows['memory'].pk}/"
        admin(operator_page)  # an operator's first visit begins the time to add a second factor
        before = all_rows(without={"access_log"})
        for each in (f"{path}change/", "memory_app/memory/", "", "login/"):
            body = {"action": "delete_selected", "_selected_action": [rows["memory"].pk], "content": "changed"}
            assert operator_page.post(f"/admin/{each}", body).status_code == 405
        for each in (f"{path}delete/", "memory_app/memory/add/", f"{path}history/", "logout/", "password_change/"):
            assert admin(operator_page, each).status_code == 404
        page = admin(operator_page, f"{path}change/").content.decode()
        for part in ('type="submit"', "deletelink", "historylink", 'name="_save"', 'name="content"'):
            assert part not in page
        assert all_rows(without={"access_log"}) == before

    def test_tell_the_owner_whose_row_was_opened(self, operator_page, olga, ana, rows):
        memory = rows["memory"]
        assert WORD not in admin(operator_page, "memory_app/memory/").content.decode()
        assert not AccessEntry.objects.exists()
        assert WORD in admin(operator_page, f"memory_app/memory/{memory.pk}/change/").content.decode()
        entry = AccessEntry.objects.get()
        assert (entry.viewer, entry.owner, entry.kind) == (olga, ana, "tables")
        assert entry.object_id == f"memories:{memory.pk}"

    @pytest.mark.database
    def test_read_few_rows_of_a_large_table(self, operator_page, ana, django_assert_max_num_queries):
        now = timezone.now()
        AuditEntry.objects.bulk_create(
            AuditEntry(at=now, actor="test", owner=ana, tool_call="probe") for _ in range(120)
        )
        JobRun.objects.bulk_create(JobRun(job="x", created_at=now + timedelta(seconds=n)) for n in range(120))
        for path in ("kernel/auditentry/", "kernel/jobrun/"):
            with django_assert_max_num_queries(7):
                page = admin(operator_page, path)
            assert len(page.context["cl"].result_list) == 50

    @pytest.mark.database
    def test_count_no_further_than_the_bound(self, operator_page, monkeypatch):
        from minara_site.console.tables import rows

        monkeypatch.setattr(rows, "MAX_COUNTED", 60)
        User.objects.bulk_create(User(username=f"user{number}") for number in range(150))
        assert admin(operator_page, "access/user/").context["cl"].result_count == 60

    def test_keep_to_the_content_policy_and_out_of_caches(self, operator_page):
        response = admin(operator_page, "access/user/")
        assert "script-src 'self'" in response["Content-Security-Policy"]
        assert "no-store" in response["Cache-Control"]
        page = response.content.decode()
        assert "<style" not in page
        assert " style=" not in page
        assert "onclick=" not in page
