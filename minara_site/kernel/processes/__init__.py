"""The processes of `minara up`: a supervisor, its children, and what ties their lives together."""
