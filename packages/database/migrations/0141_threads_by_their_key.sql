-- outside a transaction: concurrently cannot be inside one
-- As with models: of indexes that seem equally fast on an empty table the planner takes the youngest, which for a thread
-- was the one by change.
reindex index concurrently agent.threads_pkey;
