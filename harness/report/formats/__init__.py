"""A table as Markdown, LaTeX and plain text."""
