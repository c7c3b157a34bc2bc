"""The app's HTTP routers, room by room."""

from profile_app.prompt.api import router as prompt

routers = (prompt,)
