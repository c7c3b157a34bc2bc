"""One pure parser per format: lines in, entries and refusals out."""
