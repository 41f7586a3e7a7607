"""Host names that brands point at the service.

holders  who has one, and whether it is verified
looks    what was seen of its proof
"""
