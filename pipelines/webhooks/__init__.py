"""Sends events to webhook endpoints.

manage          a brand's endpoints and their secrets
emit            stages an event, with a delivery for each endpoint that subscribes
deliver         one attempt of one delivery
redelivery      sends failed deliveries again
outage_notices  notifies people of endpoints that nothing reaches
"""
