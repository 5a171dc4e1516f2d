"""Providers as published answers show them: what contradicts the documents, behind edges such as real ones have.

What is shown is written here from what people published; nothing is read when the mock runs. It concerns HTTP and SSE:
of WebSockets and gRPC nothing was published that the documents do not say.
"""
