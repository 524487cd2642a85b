"""What we have set on which jobs, and how it is undone."""
