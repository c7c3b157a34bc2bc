"""The app's kinds of stored text."""

from profile_app.documents.kinds import CustomPromptKind, ProfileSummaryKind, WorkspaceFileKind
from profile_app.portrait.services.profile import copy_texts_in_force
from profile_app.workspace.services import copy_out_later

KINDS = (
    WorkspaceFileKind(on_accepted=[copy_out_later]),
    CustomPromptKind(on_accepted=[copy_texts_in_force]),
    ProfileSummaryKind(on_accepted=[copy_texts_in_force]),
)
