"""SCD: self-contrast of two dropout rates with decorrelated projections, without negatives."""
