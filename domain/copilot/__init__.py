"""The co-pilot: a model answers a person's questions with the agents' tools, and proposes changes for confirmation.

states   the states and limits of a conversation and a proposed act
replies  the parser of a model's replies, which are untrusted
prompts  the request to a model
"""
