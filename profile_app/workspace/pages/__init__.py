"""How agent files look on pages: what each is for, where it lands, what it costs, what is wrong with the folder."""
