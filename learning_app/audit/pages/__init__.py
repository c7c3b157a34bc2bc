"""How the audit looks: reports, trend, findings."""
