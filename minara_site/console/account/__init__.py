"""The pages of one's own account: the way in, first run, invitation, security and API keys."""
