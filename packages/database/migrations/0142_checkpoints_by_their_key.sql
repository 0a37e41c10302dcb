-- outside a transaction: concurrently cannot be inside one
-- As with threads: with a plan from before there were checkpoints, the latest of a thread was looked for among all of its account.
reindex index concurrently agent.checkpoints_pkey;
