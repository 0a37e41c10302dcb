-- As before, but a name is looked up as a range from itself to itself, in the order of names, which only the index by name
-- has: with a plan from when there were few credentials, any other index of the account would do as well.
create or replace function platform.reveal_credentials(
  of_accounts text[], by_ids text[], by_names text[], claimed_ids text[],
  actor_key_ids text[], actor_identity_ids text[], actor_identity_types text[], of_requests text[]
)
returns table (place bigint, id text, current_version integer, sealed bytea)
language plpgsql volatile
as $$
declare
  bound_account text;
begin
  for bound_account in select distinct a from pg_catalog.unnest(of_accounts) a loop
    perform pg_catalog.set_config('keelson.account_id', bound_account, true);
    return query
      with found as materialized (
        select act.*, c.id, c.current_version
        from unnest(of_accounts, by_ids, by_names, claimed_ids, actor_key_ids, actor_identity_ids,
            actor_identity_types, of_requests) with ordinality
          as act (account_id, by_id, by_name, claimed_id, key_id, identity_id, identity_type, request_id, place)
        left join lateral (
          select c.id, c.current_version from platform.credentials c
          where act.by_id is not null and c.account_id = bound_account and c.id = act.by_id
          union all
          (select c.id, c.current_version from platform.credentials c
          where act.by_name is not null and c.account_id = bound_account and c.name between act.by_name and act.by_name
          order by c.name)
        ) as c on true
        where act.account_id = bound_account
      ), recorded as (
        insert into identity.audit_log (account_id, key_id, identity_id, identity_type, action, target_type, request_id,
          target_id, target_version, outcome)
        select bound_account, f.key_id, f.identity_id, f.identity_type, 'credential.reveal', 'credential', f.request_id,
          coalesce(f.id, f.claimed_id), f.current_version, case when f.id is null then 'not_found' else 'granted' end
        from found f
      )
      select f.place, f.id, f.current_version, (
        select v.sealed from platform.credential_versions v
        where v.account_id = bound_account and v.credential_id = f.id and v.version = f.current_version)
      from found f;
  end loop;
end
$$;
