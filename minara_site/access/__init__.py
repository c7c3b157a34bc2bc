"""Who may do what: users, groups, API keys and the one policy table. Source: decisions (tenancy and roles)."""
