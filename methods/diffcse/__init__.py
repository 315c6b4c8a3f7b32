"""DiffCSE: SimCSE with replaced-token detection that is conditioned on the sentence vector."""
