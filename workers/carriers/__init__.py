"""The brokers that carry pointers from the relay to the fleets: Dramatiq's, with what this service needs of each.

pointer_carrier  what both have: unknown jobs, how much is fetched ahead, the messages that this process has fetched
valkey           Redis or Valkey in any form; `consumer` and `fetched_messages` lose no fetched message
fair_queue       the choice of the next message for a free thread, so that no slow server occupies all threads
rabbit           RabbitMQ, which requeues by itself the messages of a process that ended
"""
