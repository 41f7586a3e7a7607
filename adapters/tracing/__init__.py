"""Spans of OpenTelemetry for whoever wants to see where time goes; off unless an address says where they go.

spans        what the service says: a request, a job, a call to the outside begins and ends
export       where it goes, by the SDK, which is an extra
"""
