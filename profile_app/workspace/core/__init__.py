"""What needs no database: names of agent files, their parts, and what becomes of a file that two places have."""
