"""Events on their way out.

manage      where to: a brand's endpoints and their secrets
emit        an event is written, with a delivery for each endpoint that subscribes
deliver     one attempt of one delivery
redelivery  what was given up is sent again
letters     Owners are told of endpoints that nothing reaches
"""
