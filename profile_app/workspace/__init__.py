"""The files of an agent's workspace: their names, the folder that copies them, their pages. Source: S3 (workspace)."""
