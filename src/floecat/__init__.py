"""Floecat: a catalog of catalogs for lakehouses.

Every folder below is a room with one purpose; `docs/architecture.md` draws the house and
import-linter keeps its doors (see `[tool.importlinter]` in pyproject.toml).
"""
