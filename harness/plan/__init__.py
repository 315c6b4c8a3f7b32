"""Resolve recipes to the list of runs, params.yaml; needs and cost of a plan."""
