"""What happens to clicks. The walk of a click, from a visitor's browser to the row that pays for its hour:

    POST /api/v1/track/click, GET /api/v1/r/c.gif, GET /r/{slug}
      api.clicks.fast_path             the usual POST: answered by the event loop, not the route, by the same functions
      api.clicks.visits                is it a visit, where does the slug lead (public_links: remembered for seconds)
      domain.clicks.raw_click          what is kept of it: an id, the link, keyed hashes in place of addresses
      adapters.clicks.wire             as which JSON it travels
      adapters.clicks.stream           one round trip: counted in the rate limit and appended (the visitor is done)
        Redis is down                    the route writes it; if the organization is locked, the job click.late
    flask clicks (workers.clicks)      a batch from the stream, one transaction per organization
      clicks.write                       takes the organization's lock; what is written already stays as it is
        domain.clicks.scoring          judged by one another (behind a full batch while that is written), and where
                                         visitor or network is known by what they did before
          domain.clicks.history            is it a duplicate, what is it judged by
          domain.fraud.score               the verdict
        terms_of                         what one click of each affiliate pays now
        pay.settle                       locks budgets and rows, decides, and writes what follows
          domain.clicks.outcomes              facts in, fates out: duplicate, blocked, held, unscored, recorded,
                                           over_budget, earned
          earn.write                       the first click of an hour makes its row (`cpc:{program}:{affiliate}:{hour}`)
          batches.stage_growth             a later one raises it: commission, a line of history, a ledger entry
      and with the commit the clicks themselves; then the batch is acknowledged
    clicks.rescore (workers)           unscored clicks: `scores` asks the operator's scorer outside of any transaction,
                                       and pay.settle is gone through again

Lock order: the organization's lock, the budgets by program, the conversions by id. Nothing is kept in temporary tables;
a batch goes into each statement as texts of JSON and of arrays (`models.clicks.batches`).
"""
