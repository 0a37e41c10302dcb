-- outside a transaction: concurrently cannot be inside one
drop index concurrently if exists agent.spans_by_created_at;
-- Old spans are found in this order, a batch at a time. It is never updated, so patches stay heap-only; spans of a statement
-- share its time and so an entry.
create index concurrently spans_by_created_at on agent.spans (created_at);
