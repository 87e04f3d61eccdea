"""Reaching catalogs that other people own: the SPI, auth providers, and one folder per format.

A connector returns SPI records and knows neither services, nor the queue, nor our storage.
"""
