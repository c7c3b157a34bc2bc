"""What needs no database: names of files, front matter, signatures, verdicts."""
