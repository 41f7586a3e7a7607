"""What no-code platforms ask of the service.

hooks     a workflow is told of one kind of event, until it is switched off
samples   what such an event looks like
"""
