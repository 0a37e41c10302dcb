-- outside a transaction: concurrently cannot be inside one
drop index concurrently if exists agent.webhook_deliveries_due_by_agent;
-- Deliveries are taken agent by agent, so that a slow one leaves room for the others.
create index concurrently webhook_deliveries_due_by_agent
  on agent.webhook_deliveries (account_id, agent_id, next_attempt_at) where status = 'pending';
