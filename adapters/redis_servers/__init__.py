"""Clients of Redis or Valkey on several servers: with Sentinels, or as a cluster. The broker chooses."""
