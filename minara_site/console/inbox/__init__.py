"""`/inbox/`: what waits for an operator, one row a cause, opened and closed by what is true now. Source: glossary."""
