-- Rows no seal covers yet, found in the gaps between what is covered: reading the covered rows as well, to leave them out
-- one by one, cost a busy log more than its reveals. No transaction of ours is open for ten minutes, so below the seals
-- older than that nothing can still appear, and only the numbers of younger seals leave gaps.
create or replace function identity.unsealed_audit_rows(most integer) returns setof identity.audit_log
language sql stable security definer set search_path = ''
begin atomic
  with young as (
    select range_agg(s.seqs) as seqs from identity.audit_seals s where s.created_at > now() - interval '10 minutes'
  ), old as (
    select max(upper(s.seqs)) as seq from identity.audit_seals s where s.created_at <= now() - interval '10 minutes'
  ), gap as (
    select unnest(int8multirange(int8range(coalesce(old.seq, 0), null)) - coalesce(young.seqs, '{}')) as seqs
    from young, old
  )
  select l.* from gap cross join lateral (
    select * from identity.audit_log l
    where l.seq >= lower(gap.seqs) and l.seq < coalesce(upper(gap.seqs), 9223372036854775807)
    order by l.seq limit most
  ) as l
  order by l.seq limit most;
end;
