"""What acts changed, row by row: recording it, undoing it, and earlier words. It knows no room and no kind by name."""
