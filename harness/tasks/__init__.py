"""Evaluation tasks: all code that reads gold labels. `registry` finds them by name, `declared` lists them."""
