"""The app's jobs, room by room."""

from datetime import timedelta

from django.utils.translation import gettext_lazy as _

from learning_app.preferences.core import ACTIVATED, ENDED
from memory_app.bundle import tasks as bundle, transfers
from memory_app.doctor import tasks as doctor
from memory_app.edges.services import replay_edges
from memory_app.embeddings import tasks as embeddings
from memory_app.facts import tasks as facts
from memory_app.facts.judge import JUDGE, judge_conflicts
from memory_app.facts.services.record import CONSOLIDATE
from memory_app.memories import tasks as memories
from memory_app.memories.core import BRIDGE
from memory_app.roles import tasks as roles
from memory_app.roles.services.rejudge import REJUDGE
from memory_app.roles.services.triggers import REFLECT, START
from memory_app.search import tasks as why
from minara_site.kernel.doctor.core import FIX
from minara_site.kernel.jobs.table import Job
from minara_site.kernel.market.changed import PRICES_CHANGED

JOBS = (
    Job(
        "embeddings.embed_pending",
        embeddings.embed_pending,
        every=embeddings.EMBED_EVERY,
        reports=True,
        summary=_("Gives new and edited memories their vectors, for the search by meaning."),
    ),
    Job(
        "embeddings.backfill",
        embeddings.backfill,
        every=embeddings.BACKFILL_EVERY,
        reports=True,
        summary=_("Embeds what is pending, what failed and what another model embedded."),
    ),
    Job(
        "memories.purge_expired",
        memories.purge,
        every=timedelta(minutes=30),
        reports=True,
        summary=_("Removes deleted memories and discarded texts for good once their time is over."),
    ),
    Job(
        BRIDGE,
        memories.bridge_preferences,
        topics=(ACTIVATED, ENDED),
        summary=_("Writes the memory of a preference that came into force, and deletes it when the preference ends."),
    ),
    Job(
        FIX,
        doctor.run_fixes,
        reports=True,
        summary=_("Looks what the chosen fixes of the doctor would do, or carries them out."),
    ),
    Job(
        why.FORGET,
        why.delete_expired,
        every=timedelta(days=1),
        reports=True,
        summary=_("Forgets the searches that are older than the log of searches is kept."),
    ),
    Job(
        CONSOLIDATE,
        facts.consolidate,
        every=timedelta(minutes=5),
        reports=True,
        summary=_("Settles recorded facts, retires repeated ones and looks for contradictions."),
    ),
    Job(
        JUDGE,
        judge_conflicts,
        every=timedelta(hours=1),
        reports=True,
        summary=_("Asks a model which of two contradicting facts is kept, if MEMORY_CONSOLIDATION_ENABLED says so."),
    ),
    Job(
        START,
        roles.start_due,
        every=timedelta(minutes=1),
        summary=_("Applies the outcomes that a person marked, and starts the reflections whose time has come."),
    ),
    Job(
        REFLECT,
        roles.reflect,
        reports=True,
        summary=_("Judges the decisions of a role that are old enough, and draws lessons from those that were wrong."),
    ),
    Job(
        REJUDGE,
        roles.rejudge,
        topics=(PRICES_CHANGED,),
        summary=_("Marks the decisions of roles of which the price was corrected after it judged them."),
    ),
    Job(
        "edges.replay",
        replay_edges,
        reports=True,
        summary=_("Reads every memory again and mends what its edges to assets lack or have too many."),
    ),
    Job(transfers.EXPORT_JOB, bundle.export, reports=True, summary=_("Writes an export that a person asked for.")),
    Job(transfers.PLAN_JOB, bundle.plan, summary=_("Reads an upload and shows what importing it would do.")),
    Job(transfers.APPLY_JOB, bundle.apply, reports=True, summary=_("Imports exactly what the preview showed.")),
    Job(
        transfers.FORGET_JOB,
        bundle.delete_expired,
        every=timedelta(hours=1),
        summary=_("Removes exports and uploads a day after they were asked for."),
    ),
)
