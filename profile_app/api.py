"""The app's HTTP routers, room by room."""

from profile_app.prompt.api import router as prompt
from profile_app.prompt.suggestions_api import router as suggestions

routers = (prompt, suggestions)
