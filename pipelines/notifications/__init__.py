"""Notifications of a brand's people, in the dashboard and by email.

notices       writes an event into the organization's notifications
sale_notices  decides which sales are worth a notification
emails        sends a notification to the members whom it concerns
preferences   what a person has read and switched off
"""
