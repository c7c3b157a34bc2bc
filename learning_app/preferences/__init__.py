"""Learned preferences: proposed by agents, people and mining, and active only once a person approved. Source: S1."""
