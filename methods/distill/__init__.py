"""A student fitted to a teacher's vectors by squared error."""
