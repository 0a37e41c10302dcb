-- outside a transaction: concurrently cannot be inside one
-- As with credentials: of indexes that seem equally fast on a table nothing is known of, the planner takes the youngest.
-- That was models_by_status for every look at a model and every check of a deployment's model, and an index of all
-- deployments for the one that a ring names.
reindex index concurrently platform.models_pkey;
reindex index concurrently platform.deployments_active_by_id;
