"""Evaluation tasks: all code that reads gold labels. `registry` has them by name, `declared` one line for
each."""
