"""Augmentations of a corpus, made once and offline: translations, paraphrases, refilled masks, edited words.

Every augmenter is a pure function of its settings, its tool and a part of the rows with their ids: nothing
depends on the parts before, so a killed run continues to the same bytes.
"""
