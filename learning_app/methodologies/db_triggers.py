"""The database triggers that make lifecycle events append-only; those of the demo go with it."""

from learning_app.methodologies.models import LIFECYCLE_TABLE
from minara_site.kernel.audit_log import db_triggers

create = db_triggers.create(LIFECYCLE_TABLE, spared="OLD.is_demo")
drop = db_triggers.drop(LIFECYCLE_TABLE)
