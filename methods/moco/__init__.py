"""MoCo: momentum keys and a queue, with discrete augmentations of the key side's sentence."""
