"""How trading cases look: the list, and one case in parts."""
