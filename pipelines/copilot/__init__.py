"""The co-pilot: requests of the user and calls of the model, which never run in one process step.

questions    requests of the user: ask, retry, confirm or decline a proposed act
model_calls  a worker: send the conversation to the model and record its reply; it runs no operation
tool_calls   requests of the user: run the model's read calls, propose its changes
transcript   entries of a conversation, used by all three

A worker acts on behalf of no user, so it needs no session; a request waits for no model. Decision 38 says why.
"""
