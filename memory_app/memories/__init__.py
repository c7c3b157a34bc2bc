"""Memories: what the agent was told, noticed and concluded. Source: S1."""
