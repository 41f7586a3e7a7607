"""How requests come in: read whole before a thread is given, answered without waiting for who reads slowly.

`framing` knows when a request is whole, `outbox` keeps what a client has not taken yet, `connection` is one client,
`refusals` are the answers to what no application sees, `room` says how many clients there may be, `worker` is the loop
that gunicorn runs. Decision 14 says why. `fast_path` holds the requests that the loop answers itself (decision 58).
"""
