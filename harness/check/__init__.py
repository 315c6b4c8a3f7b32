"""Measurements of `sentbench check`: first steps of runs, and encoders with known scores."""
