"""Where delta tables are found: folders, Unity Catalog, AWS Glue."""
