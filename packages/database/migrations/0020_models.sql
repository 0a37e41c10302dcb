-- Models and the deployments that make them serve. `status = 'deploying'` and the active deployments row are one fact,
-- written in one transaction; the constraints below refuse every other combination.

create schema if not exists platform;

create table platform.models (
  account_id text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  model_type text not null,
  model_vendor text not null,
  model_metadata text,
  vendor_configuration text,
  status text not null,
  status_reason text,
  model_availability text not null default 'unknown',
  -- Counts the configurations this model has been asked to serve; 0 for hosted models.
  generation integer not null default 0,
  -- When somebody should next look whether the model still serves; null while deploying and for hosted models.
  observe_at timestamptz,
  created_at timestamptz not null default now(),
  created_by_identity_type text not null,
  created_by_user_id text not null,
  updated_at timestamptz not null default now(),

  constraint models_pkey primary key (account_id, id),
  -- Checked at the end of the statement, so that one UPDATE swaps two names; can be deferred to the end of the transaction.
  constraint models_name_key unique (account_id, model_vendor, name) deferrable initially immediate,
  constraint models_model_type_check check (model_type in ('generic', 'completion', 'chat_completion')),
  constraint models_model_vendor_check check (model_vendor in (
    'openai', 'cohere', 'vertex_ai', 'anthropic', 'azure', 'gemini', 'launch', 'llmengine', 'model_zoo', 'bedrock', 'xai', 'fireworks_ai'
  )),
  constraint models_status_check check (status in ('failed', 'ready', 'deploying', 'deployment_timeout')),
  constraint models_model_availability_check check (model_availability in ('unknown', 'available', 'unavailable')),
  constraint models_created_by_identity_type_check check (created_by_identity_type in ('user', 'service_account')),
  -- A deployed model has a configuration and a generation; a hosted one has neither and is always ready.
  constraint models_deployed_check check (
    case when model_vendor in ('launch', 'llmengine')
      then vendor_configuration is not null and generation > 0
      else vendor_configuration is null and generation = 0 and status = 'ready'
    end
  )
);

create index models_by_name on platform.models (account_id, name, id);
create index models_by_vendor on platform.models (account_id, model_vendor, id);
create index models_by_status on platform.models (account_id, status, id);
create index models_to_observe on platform.models (observe_at) where observe_at is not null;

create table platform.deployments (
  account_id text collate "C" not null,
  id text collate "C" not null,
  model_id text collate "C" not null,
  kind text not null,
  generation integer not null,
  model_vendor text not null,
  configuration text not null,
  phase text not null default 'queued',
  reason_code text,
  status_message text,
  -- Vendor steps that failed in a row.
  attempts integer not null default 0,
  -- Grows with every claim; a result is written only by the holder of the latest.
  fence bigint not null default 0,
  lease_until timestamptz,
  -- When its holder took it; null while nobody has, and after the holder wrote its result.
  claimed_at timestamptz,
  next_at timestamptz not null default now(),
  -- When the last holder began whose vendor requests may, for all anybody knows, still take effect.
  unsettled_at timestamptz,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  accepted_at timestamptz,
  deadline timestamptz,
  finished_at timestamptz,
  traceparent text,

  constraint deployments_pkey primary key (account_id, id),
  -- The history goes with its model: a deletion leaves no configuration behind.
  constraint deployments_model_fkey foreign key (account_id, model_id) references platform.models (account_id, id) on delete cascade,
  constraint deployments_kind_check check (kind in ('create', 'update', 'delete', 'cleanup')),
  constraint deployments_generation_check check (generation > 0),
  constraint deployments_model_vendor_check check (model_vendor in ('launch', 'llmengine')),
  constraint deployments_phase_check check (
    case when finished_at is null
      then phase in ('queued', 'submitted', 'building', 'starting', 'verifying', 'tearing_down')
      else phase in ('succeeded', 'failed', 'timed_out', 'superseded')
    end
  ),
  constraint deployments_deadline_check check ((accepted_at is null) = (deadline is null))
);

-- At most one deployment of a model is under way: a second one is refused, whoever asks.
create unique index deployments_active_key on platform.deployments (account_id, model_id) where finished_at is null;
-- A configuration is deployed once.
create unique index deployments_generation_key on platform.deployments (account_id, model_id, generation)
  where kind in ('create', 'update');
create index deployments_due on platform.deployments (next_at) where finished_at is null;
-- A doorbell names only the deployment.
create index deployments_active_by_id on platform.deployments (id) where finished_at is null;
create index deployments_of_model on platform.deployments (account_id, model_id, id);

-- A model that says `deploying` while nobody deploys it would stay locked for ever: no transaction may end like that.
create function platform.assert_deploying_is_under_way() returns trigger language plpgsql as $$
declare
  changed_model text := to_jsonb(new) ->> tg_argv[0];
begin
  if exists (
    select from platform.models m
    where m.account_id = new.account_id and m.id = changed_model and m.status = 'deploying' and not exists (
      select from platform.deployments d
      where d.account_id = m.account_id and d.model_id = m.id and d.finished_at is null
        and d.kind in ('create', 'update') and d.generation = m.generation
    )
  ) then
    raise exception 'model % is deploying without a deployment', changed_model
      using errcode = 'check_violation', schema = 'platform', table = 'models', constraint = 'models_deploying_is_under_way';
  end if;
  return null;
end
$$;

create constraint trigger models_deploying_is_under_way
  after insert or update of status, generation on platform.models deferrable initially deferred
  for each row when (new.status = 'deploying')
  execute function platform.assert_deploying_is_under_way('id');

create constraint trigger deployments_leave_no_model_deploying
  after update of finished_at on platform.deployments deferrable initially deferred
  for each row when (new.finished_at is not null and new.kind in ('create', 'update'))
  execute function platform.assert_deploying_is_under_way('model_id');
