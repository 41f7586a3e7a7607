"""Endpoints, and the outbox of events and deliveries."""
