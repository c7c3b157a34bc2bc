"""`POST /v1/prices`: agents and operators say what something cost."""
