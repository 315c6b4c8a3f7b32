"""Recipes become the resolved list of runs, params.yaml; and what a plan needs and costs."""
