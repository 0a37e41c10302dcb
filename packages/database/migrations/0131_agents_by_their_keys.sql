-- outside a transaction: concurrently cannot be inside one
-- As with credentials and models: of indexes that seem equally fast on a table nothing is known of, the planner takes the
-- youngest. Names are looked up in an order that only their index has, so that the primary key can be the youngest.
reindex index concurrently agent.agents_pkey;
reindex index concurrently agent.agent_api_keys_pkey;
reindex index concurrently identity.identities_pkey;
