"""`/admin/`: every table of ours through Django's admin, for operators, where MINARA_ADMIN is on. Source: contract.

It only reads: no view of it takes anything but GET, and what is secret has no column.
"""
