"""Whole Arrow arrays at once, equal element by element to what `values` does with scalars."""
