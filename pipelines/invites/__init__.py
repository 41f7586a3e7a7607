"""Invitations.

inviting     writing one or many, sending one again, taking one back
sending      their rows, tokens and links
letter       what an invited person reads
acceptance   what somebody with the link may do
"""
