"""Notifications of a brand's people, and what each person has read and switched off."""
