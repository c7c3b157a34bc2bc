"""Files that one process writes and another reads, whichever machine each is on."""
