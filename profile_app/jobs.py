"""The app's jobs, room by room."""

from datetime import timedelta
from functools import partial

from django.utils.translation import gettext_lazy as _

from learning_app.preferences.core import ACTIVATED, ENDED
from minara_site.kernel.conversations.services import TURN_RECORDED
from minara_site.kernel.jobs.table import Job
from profile_app.activity.core.accounts import EVERY, SYNC
from profile_app.activity.services.accounts import purge
from profile_app.activity.services.sync import run_if_stale, sync_owner
from profile_app.capital.core import CAPITAL_EVERY, CAPITAL_JOB
from profile_app.capital.services import measure, measure_all
from profile_app.portrait.core.bridge import BRIDGE
from profile_app.portrait.core.profile import REFRESH
from profile_app.portrait.services.bridge import bridge_tags
from profile_app.prompt.services import retire_idle_snapshots
from profile_app.rebuild.core import Flow
from profile_app.rebuild.services.run import rebuild
from profile_app.rebuild.tasks import on_turns_recorded, purge_runs, refresh
from profile_app.strategies.core import MARKETS_JOB
from profile_app.strategies.services import update_markets
from profile_app.workspace.services import sync_all

JOBS = (
    Job(
        SYNC,
        sync_owner,
        summary=_("Reads what an owner traded elsewhere: fills, funding, swaps and transfers."),
    ),
    Job(
        "activity.run_if_stale",
        run_if_stale,
        every=EVERY,
        summary=_("Asks for a sync of owners for whom none is due."),
    ),
    Job(
        "activity.purge_removed",
        purge,
        every=timedelta(days=1),
        summary=_("Deletes accounts that were removed 30 days ago, with what was read for them."),
    ),
    Job(
        BRIDGE,
        bridge_tags,
        every=timedelta(hours=1),
        topics=(ACTIVATED, ENDED),
        summary=_("Writes the tags that active preferences speak of, and withdraws them when the preferences end."),
    ),
    Job(
        MARKETS_JOB,
        update_markets,
        summary=_("Adds the markets of what an owner trades to their tag."),
    ),
    Job(
        "capital.measure_all",
        measure_all,
        every=CAPITAL_EVERY,
        summary=_("Asks for a measurement of the capital of each owner with own accounts."),
    ),
    Job(
        CAPITAL_JOB,
        measure,
        summary=_("Measures what an owner has at the exchange, for operators alone."),
    ),
    Job(
        REFRESH,
        refresh,
        summary=_("Reads folder and accounts of an owner again and asks for each rebuild of their profile."),
    ),
    Job(
        Flow.SUMMARY.job,
        partial(rebuild, Flow.SUMMARY),
        summary=_("Asks a model what an owner trades, and writes the trading summary."),
    ),
    Job(
        Flow.TAGS.job,
        partial(rebuild, Flow.TAGS),
        summary=_("Asks a model what trades and profile show of an owner, and infers tags that they did not declare."),
    ),
    Job(
        Flow.MEMORIES.job,
        partial(rebuild, Flow.MEMORIES),
        summary=_("Asks a model for lasting facts in what an owner said, and stores them as inferred memories."),
    ),
    Job(
        "rebuild.on_turns",
        on_turns_recorded,
        topics=(TURN_RECORDED,),
        summary=_("Lets recorded turns be read for the profile of their owner."),
    ),
    Job(
        "rebuild.purge",
        purge_runs,
        every=timedelta(days=1),
        summary=_("Deletes rebuilds that ended 90 days ago and wrote nothing."),
    ),
    Job(
        "prompt.retire_idle_snapshots",
        retire_idle_snapshots,
        every=timedelta(minutes=10),
        summary=_("Ends sessions that were idle for 24 hours and wipes the text that their agent read."),
    ),
    Job(
        "workspace.sync",
        sync_all,
        every=timedelta(minutes=1),
        summary=_("Takes in what an editor changed in the folders of agent files, and writes out what changed here."),
    ),
)
