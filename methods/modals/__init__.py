"""MODALS and PCA jittering: positives from augmented vectors instead of texts."""
