"""Stable facts that the agent looks up often, by key: risk tolerance, language, chains. Source: S1 (user_profile)."""
