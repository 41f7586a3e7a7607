"""How a brand proves in DNS that a host name is its own, and how long the proof is valid.

records   the DNS records of the proof, and the outcome of a lookup
validity  how long a proof is valid, when it is checked again, and when it is lost
"""
