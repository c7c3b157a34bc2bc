"""The app's HTTP routers, room by room."""

from learning_app.cases.api import router as cases
from learning_app.methodologies.api import router as methodologies

routers = (methodologies, cases)
