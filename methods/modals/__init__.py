"""MODALS and PCA jittering: positives made from vectors instead of texts."""
