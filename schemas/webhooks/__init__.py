"""Webhook endpoints, deliveries and the data of events, in the API."""
