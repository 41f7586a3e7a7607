"""No-code automation platforms.

hooks     subscribe a workflow to one event type until it is switched off
samples   example events for building a workflow
"""
