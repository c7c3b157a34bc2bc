"""The doctor: how this instance and its memory are, and what can be repaired. Source: S1 (doctor health & --fix).

To add a section: one function in `sections`, listed in `report.SECTIONS`. To add a fix: one module in `fixes`, listed
in `<app>/fixes.py`.
"""
