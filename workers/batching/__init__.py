"""How a worker that is behind does several jobs at a time. Decision 47 gives the reasons.

batch_pauses   kinds of jobs that run singly for a while, because a batch failed
call_batches   several calls to other servers, one after another
call_slots     the limit of concurrent calls to one server, so that a slow one leaves threads to others
"""
