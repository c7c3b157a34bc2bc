"""The app's parts of the demo."""

from profile_app.portrait.demo import FinancialProfilePart
from profile_app.portrait.tags_demo import TagsPart
from profile_app.prompt.demo import SessionsPart
from profile_app.workspace.demo import WorkspacePart

DEMO = (FinancialProfilePart(), TagsPart(), WorkspacePart(), SessionsPart())
