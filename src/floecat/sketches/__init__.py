"""Theta, quantile and frequent-item sketches: build, merge, estimate. Pure.

Receives arrays, returns sketch bytes and estimates; doesn't know where values come from.
"""
