"""OpenTelemetry spans; off unless TRACES_URL is set.

spans        starts and ends spans of requests, jobs and outgoing calls
export       sends them with the SDK, which is an extra
"""
