"""Pages of roles and of role memory."""
