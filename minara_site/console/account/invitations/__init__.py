"""The page on which an invited person chooses name and password."""
