-- What readers see of a credential or a model has a revision: it makes their entity tags. Counted here, so that whoever
-- writes, counts.

alter table platform.credentials add column revision bigint not null default 1;
alter table platform.models add column revision bigint not null default 1;

create function platform.count_revision() returns trigger language plpgsql as $$
begin
  new.revision := old.revision + 1;
  return new;
end
$$;

create trigger credentials_count_revision before update on platform.credentials
  for each row execute function platform.count_revision();

-- When somebody should next look at a model is no change of it.
create trigger models_count_revision before update on platform.models
  for each row when (
    (old.name, old.model_type, old.model_metadata, old.vendor_configuration, old.status, old.status_reason,
      old.model_availability, old.generation)
    is distinct from
    (new.name, new.model_type, new.model_metadata, new.vendor_configuration, new.status, new.status_reason,
      new.model_availability, new.generation)
  )
  execute function platform.count_revision();
