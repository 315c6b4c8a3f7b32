"""Rewrites of a corpus, made once and offline: translations, paraphrases, refilled masks, edited words.

Every rewriter is a pure function of its settings, its tool and (id, text): no rewrite depends on the rows before
it, so a killed run continues to the same bytes.
"""
