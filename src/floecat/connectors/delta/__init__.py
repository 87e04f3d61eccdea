"""Delta tables in folders, Unity Catalog and AWS Glue, their logs read from end to end."""
