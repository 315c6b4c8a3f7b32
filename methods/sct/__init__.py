"""SCT: views of a sentence reproduce each other's similarity distributions; also with a teacher."""
