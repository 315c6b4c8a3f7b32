"""SCD: two dropout rates apart, their projections alike and decorrelated, no negatives."""
