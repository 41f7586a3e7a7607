"""What carries pointers from the relay to the fleets: Dramatiq's brokers with what this service needs of each.

ours        what both have: who knows a job, how much is fetched ahead, what this process has in its hands
valkey      Redis or Valkey in any form; `consumer` and `in_hand` lose none of what was fetched
fair_queue  which of the fetched messages a free thread takes, so that no slow server holds all threads
rabbit      RabbitMQ, which gives back by itself what a process that is gone had
"""
