"""The app's jobs."""

from datetime import timedelta

from django.utils.translation import gettext_lazy as _

from learning_app.audit import tasks as audit
from learning_app.audit.services import cron as audit_cron
from learning_app.audit.services.run import AUDIT_JOB
from learning_app.cases import tasks
from learning_app.cases.services.cron import CRON, EVERY
from learning_app.cases.services.rejudge import REJUDGE
from learning_app.institution import tasks as institution
from learning_app.institution.services import ladder
from learning_app.institution.services.requests import RUN as INSTITUTION_RUN
from learning_app.institution.services.run import run_institution
from learning_app.learnings import tasks as learnings
from learning_app.learnings.services.review import REVIEW, review_turns
from learning_app.lessons.services import REFLECT
from learning_app.lessons.services.reflect import reflect
from learning_app.migrations._counting_once import ANEW, judge_anew
from learning_app.preferences.services import mine
from learning_app.ticks import tasks as ticks
from minara_site.kernel.conversations.services import TURN_RECORDED
from minara_site.kernel.jobs.table import Job
from minara_site.kernel.market.changed import PRICES_CHANGED

JOBS = (
    Job(
        audit_cron.CRON,
        audit.cron,
        every=audit_cron.EVERY,
        settles=True,
        reports=True,
        summary=_("Runs the learning audit once a day while agents are quiet, where METHODOLOGY_AUDIT_CRON_ENABLED."),
    ),
    Job(
        AUDIT_JOB,
        audit.audit_pass,
        settles=True,
        reports=True,
        summary=_("Scores the learning loop and stores a report. It changes nothing else."),
    ),
    Job(
        CRON,
        tasks.cron,
        every=EVERY,
        reports=True,
        summary=_("Judges trading cases whose window is over, and counts what that says of methodologies."),
    ),
    Job(
        REJUDGE,
        tasks.rejudge,
        topics=(PRICES_CHANGED,),
        summary=_("Judges again what corrected and late prices touch."),
    ),
    Job(
        ANEW,
        judge_anew,
        summary=_("Once after an upgrade: counts each bet of earlier cases once, and judges them anew."),
    ),
    Job(
        REVIEW,
        review_turns,
        reports=True,
        topics=(TURN_RECORDED,),
        summary=_("Counts what turns did with their suggestions, and stores what good ones teach."),
    ),
    Job(
        learnings.FORGET,
        learnings.delete_suggestions,
        every=timedelta(days=1),
        summary=_("Deletes the lines of the suggestion log that are older than 30 days."),
    ),
    Job(
        mine.MINE,
        mine.mine_preferences,
        every=mine.EVERY,
        reports=True,
        summary=_("Asks a model what users said that they prefer, and proposes it; a person approves."),
    ),
    Job(
        REFLECT,
        reflect,
        settles=True,
        summary=_("Asks a model what the closed trades of an agent teach, and puts that in force as its lessons."),
    ),
    Job(
        INSTITUTION_RUN,
        run_institution,
        reports=True,
        summary=_("Asks the roles of an institution run one after another, and stores what they answer."),
    ),
    Job(
        ladder.LADDER,
        ladder.run_ladder,
        every=ladder.EVERY,
        summary=_("Scores institution runs whose windows are over, and counts that for cited methodologies."),
    ),
    Job(
        ladder.REJUDGE,
        institution.rejudge,
        topics=(PRICES_CHANGED,),
        summary=_("Scores institution runs again where corrected and late prices touch their windows."),
    ),
    Job(
        ladder.REPAIR,
        institution.repair,
        every=ladder.REPAIR_EVERY,
        summary=_("Goes on with institution runs that no worker has any more, and ends those whose job failed."),
    ),
    Job(
        ticks.FORGET,
        ticks.delete_snapshots,
        every=timedelta(days=1),
        summary=_("Deletes ticks of trading agents that are older than DECISION_SNAPSHOT_DAYS; 0 keeps them all."),
    ),
)
