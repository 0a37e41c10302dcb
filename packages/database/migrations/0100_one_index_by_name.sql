-- outside a transaction: concurrently cannot be inside one
-- The unique constraint is an index over account and name already.
drop index concurrently if exists platform.credentials_by_name;
-- On a table without statistics every index that begins with the account seems to find a credential's id equally fast, and
-- the planner takes the youngest: reveals and foreign keys then read all of an account until autovacuum has been there.
-- So the primary key is made the youngest.
reindex index concurrently platform.credentials_pkey;
