"""Analysis methods that earn trust through outcomes. Source: S2 (methodology store).

They belong to the instance. A new one is quarantined; only outcomes, or an operator at the bar, let it into prompts.
"""
