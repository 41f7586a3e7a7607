"""The systems to switch from: what each answers, and what its rows mean.

base  the Protocol of a source, and the values that it exchanges with the rest
"""
