"""Learnings: procedures that good turns left behind, offered to the next turn like them. Source: S2."""
