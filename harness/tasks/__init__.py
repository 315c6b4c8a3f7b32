"""Evaluation tasks: what needs a gold label. `registry` has them by name, `declared` one line for each."""
