"""How institution runs look: the list, and one run with its phases and its ladder."""
