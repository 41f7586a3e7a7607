"""How a brand proves that a host name is its own: what stands in DNS, and what follows from what was read there.

records   the records that prove it, and what a reading of DNS comes to, in words
standing  how long a proof stands, when it is looked for again, and when it is lost
"""
