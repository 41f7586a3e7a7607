"""Records clicks. The path of a click, from a visitor's browser to the row that pays for its hour:

    POST /api/v1/track/click, GET /api/v1/r/c.gif, GET /r/{slug}
      api.clicks.fast_path             the usual POST: answered by the event loop, not the route, by the same functions
      api.clicks.visits                is it a visit, where does the slug lead (public_links: cached for seconds)
      domain.clicks.raw_click          the stored data: an id, the link, keyed hashes instead of addresses
      adapters.clicks.wire             its JSON form
      adapters.clicks.stream           one round trip: counted in the rate limit and appended (the visitor is done)
        Redis is down                    the route writes it; if the organization is locked, the job click.late
    flask clicks (workers.clicks)      a batch from the stream, one transaction per organization
      clicks.write                       takes the organization's lock; clicks that are written already stay as they are
        domain.clicks.scoring          scores the clicks of a batch by each other (a full batch is scored while the
                                         previous one is written) and by the past of known visitors and networks
          domain.clicks.history            is it a duplicate, the facts for its score
          domain.fraud.score               the verdict
        terms_of                         the current fee of one click of each affiliate
        pay.settle                       locks budgets and rows, decides, and writes the results
          domain.clicks.outcomes              from facts to outcomes: duplicate, blocked, held, unscored, recorded,
                                           over_budget, earned
          earn.write                       the first click of an hour creates its row
                                           (`cpc:{program}:{affiliate}:{hour}`)
          batches.stage_growth             a later one raises it: commission, a line of history, a ledger entry
      and with the commit the clicks themselves; then the batch is acknowledged
    clicks.rescore (workers)           unscored clicks: `scores` calls the operator's scorer outside of any transaction,
                                       and pay.settle runs again

Lock order: the organization's lock, the budgets by program, the conversions by id. There are no temporary tables; a
batch goes into each statement as texts of JSON and of arrays (`models.clicks.batches`).
"""
