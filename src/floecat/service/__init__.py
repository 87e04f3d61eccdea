"""gRPC: one thin handler module per service, interceptors, authentication, the server.

Parse, one call, render. Rules live in the rooms below.
"""
