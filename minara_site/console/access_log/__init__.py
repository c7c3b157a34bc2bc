"""Who looked at whose data: all of it for operators, their own for everybody. Source: screens 5, U-37, decisions."""
