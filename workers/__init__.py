"""How jobs run. Decisions 1, 2 and 19 give the reasons.

queues          the actors, one file per queue
actor           one attempt of a job, from its row to the end of its row; `failures` records why it did not succeed
dead_letters    reactions to jobs whose attempts are used up
batching        several jobs at a time, for a worker that is behind
unknown_jobs    the actor for kinds of jobs that this release does not know
relay           sends due jobs to the broker, per queue and fair key; `silence` recovers the jobs of silent processes
scheduler       fires the ticks that are due by the clock
clicks          writes the clicks of the stream, which are not jobs
fleet           the modules of a worker process; `process` announces it, `__main__` starts a fleet, `single_process` one
                of one process
broker          Dramatiq as a carrier of pointers, on one of the `carriers`
procfile        runs the lines of a Procfile: the `supervisor`, each line a `child`, their output on one `console`
metrics         counters of all these processes; `pace` counts the jobs of the last minute for operators
"""
