"""DCLR: SimCSE with masked false negatives and Gaussian noise as further negatives."""
