"""Assemble the content of pages and commands from results, plan, declarations and stored vectors."""
