"""How work runs. Decisions 1, 2 and 19 say why it is built so.

queues       the actors, one file per queue
actor        one attempt of a job, from its row to the end of its row; `failing` writes down why it did not end well
unknown      runs in place of a kind of job that this release does not know
relay        hands due jobs to the broker, per queue and fair key; `silence` hands out again what the silent held
scheduler    fires what is due by the clock
clicks       writes the clicks of the stream, which are not jobs
fleet        what a worker process loads; `process` announces it, `__main__` starts a fleet, `single` one of one process
broker       Dramatiq as a carrier of pointers, on one of the `carriers`
procfile     runs the lines of a Procfile: the `supervisor`, each line a `child`, their output on one `console`
metrics      counters of all these processes; `pace` is what the operator sees of them
"""
