"""Published answers that contradict the documents, and what gateways add to them.

All of it is written down here; nothing is read when the mock runs. It concerns HTTP and SSE: of WebSockets and gRPC
nothing was published that the documents do not say.
"""
