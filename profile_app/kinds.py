"""The app's kinds."""

from minara_site.kernel.registry import Kind
from profile_app.documents.kinds import CustomPromptKind, ProfileSummaryKind, WorkspaceFileKind
from profile_app.documents.proposals import FileProposed, PromptProposed
from profile_app.onboarding.proposals import OnboardingProposed
from profile_app.portrait.proposals import SwitchesProposed, TagProposed, WalletsProposed
from profile_app.portrait.services.profile import copy_texts_in_force
from profile_app.rebuild.changes import TAG, SummaryChanges, TagChanges
from profile_app.workspace.services import copy_out_later

KINDS = (
    Kind(WorkspaceFileKind.name, (WorkspaceFileKind(on_accepted=[copy_out_later]), FileProposed())),
    Kind(CustomPromptKind.name, (CustomPromptKind(on_accepted=[copy_texts_in_force]), PromptProposed())),
    Kind(ProfileSummaryKind.name, (ProfileSummaryKind(on_accepted=[copy_texts_in_force]), SummaryChanges())),
    SwitchesProposed(),
    Kind(TAG, (TagProposed(), TagChanges())),
    WalletsProposed(),
    OnboardingProposed(),
)
