"""Result files: schema, store and provenance."""
