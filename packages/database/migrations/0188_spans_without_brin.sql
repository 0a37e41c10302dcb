-- outside a transaction: concurrently cannot be inside one
-- Summaries of page ranges only ever widen: once new spans fill the pages of deleted ones, every range seems to hold old ones.
drop index concurrently if exists agent.spans_by_age;
