"""Everything that changes agent files: their texts, the folder that copies them, the first session's file."""

from profile_app.workspace.services.bootstrap import claim_bootstrap
from profile_app.workspace.services.sync import copy_out_later, remove_copy_later, sync_all, sync_workspace

__all__ = ["claim_bootstrap", "copy_out_later", "remove_copy_later", "sync_all", "sync_workspace"]
