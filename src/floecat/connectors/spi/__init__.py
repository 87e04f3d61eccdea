"""The connector contract: interfaces, immutable records, statistics and NDV helpers.

Small and stable: third parties build against this package alone.
"""
