"""What needs no database: the roles and what they answer, what they are asked, and the windows of the ladder."""
