"""Governance: what may be switched off or watched first, and what switches itself off. Source: S1 (governance)."""
