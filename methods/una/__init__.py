"""UNA: hard negatives by swapping informative words for unrelated words of similar informativeness."""
