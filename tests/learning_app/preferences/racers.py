"""What the processes of the races do, on one shared database."""

import json

from learning_app.preferences.models import Preference
from learning_app.preferences.services.decide import activate_constraint, approve, reject_all
from learning_app.preferences.services.propose import PreferenceDraft, propose_preference
from learning_app.vocabulary import PreferenceSource
from minara_site.access.models import User
from minara_site.kernel.audit_log.models import AuditEntry
from minara_site.kernel.errors import MinaraError
from minara_site.kernel.jobs.models import JobRun
from tests.kit.clock import NOON
from tests.kit.racers import in_processes, meet
from tests.learning_app.rows import make_preference

WISHES = ("Limit orders above two thousand", "Never above 3x leverage", "Answers in Chinese", "Quiet before seven")


def writers_at_once(writers: int, rounds: int) -> str:
    """Propose the same wishes from several processes; return how many rows and how much evidence there is."""
    new = in_processes(*[(propose_each, rounds)] * writers)
    rows = Preference.objects.order_by("pk").values_list("statement", "evidence_count")
    return json.dumps({"new": sum(new), "rows": list(rows)})


def propose_each(rounds: int) -> int:
    """Propose every wish so often; return how many were new."""
    owner_id, new = User.objects.get(is_default=True).pk, 0
    for wish in WISHES * rounds:
        meet()
        draft = PreferenceDraft("style", "soft_preference", wish)
        source, now = PreferenceSource.AGENT, NOON
        new += propose_preference(owner_id=owner_id, draft=draft, source=source, actor="key:x", now=now).is_new
    return new


def decisions_at_once(count: int) -> str:
    """Approve, activate and reject the same proposals at once; return what each row and its trail says."""
    owner = User.objects.get(is_default=True)
    for number in range(count):
        kind = "hard_constraint" if number % 2 else "soft_preference"
        make_preference(owner, f"Wish number {number}", kind=kind, dimension="style")
    taken = in_processes(*[(decide_each, act) for act in ("approve", "approve", "activate", "activate", "reject")])
    rows = Preference.objects.all()
    ids = [pk for run in JobRun.objects.filter(job="memories.bridge_preferences") for pk in run.arguments["ids"]]
    hard = AuditEntry.objects.filter(tool_call="constraint_activated").values_list("details__id", flat=True)
    return json.dumps(
        {
            "decided": sum(taken),
            "rows": rows.count(),
            "versions": sorted(set(rows.values_list("version", flat=True))),
            "states": sorted(set(rows.values_list("state", flat=True))),
            "announced_once": sorted(ids) == sorted(rows.filter(state="active").values_list("pk", flat=True)),
            "hard_by_its_owner": sorted(hard) == sorted(rows.active().hard().values_list("pk", flat=True)),
        }
    )


def decide_each(act: str) -> int:
    """Decide on every proposal in one way; return how often this process was first."""
    owner, done = User.objects.get(is_default=True), 0
    decision = {"owner": owner, "actor": f"user:{owner.pk}", "now": NOON}
    for pk in list(Preference.objects.order_by("pk").values_list("pk", flat=True)):
        meet()
        try:
            if act == "reject":
                reject_all(ids=[pk], **decision)
            elif act == "approve":
                approve(preference_id=pk, **decision)
            else:
                statement = Preference.objects.get(pk=pk).statement
                activate_constraint(preference_id=pk, typed=statement.split()[-1], **decision)
        except MinaraError:
            continue
        done += 1
    return done
