"""The app's HTTP routers, room by room."""

from learning_app.audit.api import router as audit
from learning_app.cases.api import router as cases
from learning_app.institution.api import router as institution
from learning_app.learnings.api import router as learnings
from learning_app.ledger.api import router as ledger
from learning_app.methodologies.api import router as methodologies
from learning_app.preferences.api import router as preferences
from learning_app.ticks.api import router as ticks

routers = (methodologies, cases, learnings, preferences, ledger, ticks, audit, institution)
