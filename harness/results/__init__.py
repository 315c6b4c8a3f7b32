"""Result files: their schema, their store, and what they depend on."""
