"""Webhook endpoints, and the outbox of events and deliveries."""
