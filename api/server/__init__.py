"""The HTTP server: it reads a whole request before a thread runs it, and no thread waits for a slow client.

`framing` detects the end of a request, `outbox` holds the bytes that a client has not received yet, `connection` is one
client, `refusals` are the answers to requests that never reach the application, `client_limit` computes how many
clients may be connected, and `worker` is the event loop that gunicorn runs (decision 14). `fast_path` handles the
requests that the loop answers itself (decision 58).
"""
