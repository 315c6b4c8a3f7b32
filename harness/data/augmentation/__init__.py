"""Augmentations of a corpus, made once and offline: translations, paraphrases, refilled masks, edited words.

Every augmenter is a pure function of its settings, its tool and a part of the rows with their ids: no part
depends on earlier parts, so a continued run gives the same bytes.
"""
