"""What the doctor looks at, one module a section."""
