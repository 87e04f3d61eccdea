"""Where secrets are kept: one port, and a store on our own records or in AWS Secrets Manager."""
