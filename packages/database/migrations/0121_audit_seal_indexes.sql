-- outside a transaction: concurrently cannot be inside one
-- For the two questions that the sealer asks every other second of all seals there ever were.
create index concurrently if not exists audit_seals_by_created_at on identity.audit_seals (created_at);
create index concurrently if not exists audit_seals_by_end on identity.audit_seals (upper(seqs));
