"""Iceberg tables and views, wherever their catalog is: REST, Glue, SQL, Hive, or plain folders.

Metadata is read here, from the JSON and Avro of the specification; libraries only reach catalogs.
"""
