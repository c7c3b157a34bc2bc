"""How alike two texts of the learning loop are; one measure, for methodologies and procedures alike. Pure.

It knows only words: who stores texts keeps opposite directions apart before asking.
"""
