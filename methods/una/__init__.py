"""UNA: hard negatives made by swapping informative words for unrelated words of like informativeness."""
