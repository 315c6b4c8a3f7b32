"""MoCo: momentum keys and a queue, with discrete edits of the key side's sentence."""
