"""Captures on Spark: one session per process, one job per group of files."""
