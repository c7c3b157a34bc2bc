"""The app's parts of the demo."""

from profile_app.activity.demo import ActivityPart
from profile_app.capital.demo import CapitalPart
from profile_app.portrait.demo import FinancialProfilePart
from profile_app.portrait.tags_demo import TagsPart
from profile_app.prompt.demo import SessionsPart
from profile_app.rebuild.demo import RebuildsPart
from profile_app.strategies.demo import StrategyRunsPart
from profile_app.workspace.demo import WorkspacePart

DEMO = (
    FinancialProfilePart(),
    TagsPart(),
    ActivityPart(),
    RebuildsPart(),
    StrategyRunsPart(),
    CapitalPart(),
    WorkspacePart(),
    SessionsPart(),
)
