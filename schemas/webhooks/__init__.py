"""Webhook endpoints, deliveries and the data of events, on the wire."""
