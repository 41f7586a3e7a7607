"""The co-pilot: a model answers a person's questions by the tools of agents, and proposes what the person may confirm.

states   where a conversation and a proposed act stand, and what bounds them
replies  what a model's endpoint answered, read as what it is: text of a stranger
prompts  what a model is sent
"""
