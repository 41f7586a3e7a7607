"""Strangers: which campaign they see (`lookup`), their application (`applying`), and what they are asked then
(`second_step`).

`matching` is the application of who signed in, to a program of the network: by the same rules.
"""
