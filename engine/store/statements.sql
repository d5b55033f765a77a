-- Every statement of Callboard: named verb_noun, bound to a tenant, in the subset SQLite and PostgreSQL share.
-- What zero rows mean for each guarded one is told in docs/leases.md. Lock order: offer, job, worker.

-- The clock and numbers ---------------------------------------------------------------------------------------------

-- name: read_clock
SELECT clock.now_ms, tenants.zone FROM clock, tenants WHERE tenants.tenant_id = :tenant_id;

-- name: set_clock
UPDATE clock SET now_ms = :now_ms WHERE :tenant_id = :tenant_id;

-- name: take_number
INSERT INTO counters (tenant_id, kind, last) VALUES (:tenant_id, :kind, 1)
ON CONFLICT (tenant_id, kind) DO UPDATE SET last = counters.last + 1
RETURNING last;

-- Operators ---------------------------------------------------------------------------------------------------------

-- name: write_operator
INSERT INTO operators (tenant_id, name, role, passphrase, added_ms)
SELECT :tenant_id, :operator, :role, :passphrase, clock.now_ms FROM clock WHERE true
ON CONFLICT (tenant_id, name) DO UPDATE SET role = excluded.role, passphrase = excluded.passphrase;

-- name: drop_operator
DELETE FROM operators WHERE tenant_id = :tenant_id AND name = :operator;

-- name: list_operators
SELECT name, role, added_ms FROM operators WHERE tenant_id = :tenant_id ORDER BY name;

-- name: read_operator
SELECT name, role, passphrase FROM operators WHERE tenant_id = :tenant_id AND name = :operator;

-- The region's fence ------------------------------------------------------------------------------------------------

-- name: hold_epoch
UPDATE regions SET epoch = epoch WHERE tenant_id = :tenant_id AND region_id = :region_id AND epoch = :epoch
RETURNING epoch;

-- name: read_epoch
SELECT epoch, holder, lease_until_ms, (SELECT now_ms FROM clock) AS now_ms
FROM regions WHERE tenant_id = :tenant_id AND region_id = :region_id;

-- name: raise_epoch
UPDATE regions SET epoch = epoch + 1, holder = :holder, lease_until_ms = (SELECT now_ms FROM clock) + :lease_ms
WHERE tenant_id = :tenant_id AND region_id = :region_id AND epoch = :epoch
  AND (:by_force = 1 OR holder IS NULL OR holder = :holder OR lease_until_ms <= (SELECT now_ms FROM clock)
       OR lease_until_ms > (SELECT now_ms FROM clock) + :lease_ms)
RETURNING epoch;

-- name: renew_region
UPDATE regions SET lease_until_ms = (SELECT now_ms FROM clock) + :lease_ms
WHERE tenant_id = :tenant_id AND region_id = :region_id AND epoch = :epoch AND holder = :holder;

-- name: resign_region
UPDATE regions SET holder = NULL, lease_until_ms = 0
WHERE tenant_id = :tenant_id AND region_id = :region_id AND epoch = :epoch AND holder = :holder;

-- name: list_regions
SELECT region_id, area_id, epoch, holder, lease_until_ms FROM regions WHERE tenant_id = :tenant_id ORDER BY region_id;

-- name: list_live_offers_of_region
SELECT offer_id, job_id, worker_id FROM offers
WHERE tenant_id = :tenant_id AND region_id = :region_id AND state = 'OFFERED' ORDER BY offer_id;

-- name: adopt_offer
UPDATE offers SET epoch = :epoch WHERE tenant_id = :tenant_id AND offer_id = :offer_id AND state = 'OFFERED';

-- Intake ------------------------------------------------------------------------------------------------------------

-- name: read_job_key
SELECT body_hash, job_id FROM job_keys WHERE tenant_id = :tenant_id AND key = :key;

-- name: write_job_key
INSERT INTO job_keys (tenant_id, key, body_hash, job_id) VALUES (:tenant_id, :key, :body_hash, :job_id);

-- name: write_job
INSERT INTO jobs (tenant_id, job_id, type, skills, lat, lng, not_before_ms, due_by_ms, duration_ms, priority,
                  address, notes, attachments, region_id, created_ms)
VALUES (:tenant_id, :job_id, :type, :skills, :lat, :lng, :not_before_ms, :due_by_ms, :duration_ms, :priority,
        :address, :notes, :attachments, :region_id, (SELECT now_ms FROM clock));

-- name: amend_job
UPDATE jobs SET type = :type, skills = :skills, lat = :lat, lng = :lng, not_before_ms = :not_before_ms,
    due_by_ms = :due_by_ms, duration_ms = :duration_ms, priority = :priority, address = :address, notes = :notes,
    attachments = :attachments, region_id = :region_id, version = version + 1,
    missed = CASE WHEN :due_by_ms < (SELECT now_ms FROM clock) THEN missed ELSE 0 END
WHERE tenant_id = :tenant_id AND job_id = :job_id AND state IN ('OPEN', 'UNASSIGNED_ALERT') AND version = :version;

-- name: annotate_job
UPDATE jobs SET notes = :notes, attachments = :attachments, version = version + 1
WHERE tenant_id = :tenant_id AND job_id = :job_id AND version = :version;

-- name: write_worker
INSERT INTO workers (tenant_id, worker_id, name, skills, home_lat, home_lng, capacity, region_id, area_id, travels,
                     idle_since_ms)
VALUES (:tenant_id, :worker_id, :name, :skills, :home_lat, :home_lng, :capacity, :region_id, :area_id, :travels,
        (SELECT now_ms FROM clock));

-- name: amend_worker
UPDATE workers SET name = :name, skills = :skills, home_lat = :home_lat, home_lng = :home_lng, capacity = :capacity,
    area_id = :area_id, travels = :travels, archived = 0
WHERE tenant_id = :tenant_id AND worker_id = :worker_id AND live_offer_id IS NULL;

-- name: archive_worker
UPDATE workers SET archived = 1
WHERE tenant_id = :tenant_id AND worker_id = :worker_id AND archived = 0 AND live_offer_id IS NULL
  AND NOT EXISTS (SELECT 1 FROM worker_jobs WHERE worker_jobs.tenant_id = workers.tenant_id
                  AND worker_jobs.worker_id = workers.worker_id);

-- name: write_area
INSERT INTO areas (tenant_id, area_id, name, rings) VALUES (:tenant_id, :area_id, :name, :rings)
ON CONFLICT (tenant_id, area_id) DO UPDATE SET name = excluded.name, rings = excluded.rings;

-- name: write_region
INSERT INTO regions (tenant_id, region_id, area_id) VALUES (:tenant_id, :region_id, :area_id);

-- name: write_tenant
INSERT INTO tenants (tenant_id, name, zone, settings, created_ms)
VALUES (:tenant_id, :name, :zone, :settings, (SELECT now_ms FROM clock));

-- name: set_settings
UPDATE tenants SET settings = :settings WHERE tenant_id = :tenant_id;

-- name: write_policy
INSERT INTO policies (tenant_id, version, w_eta, w_fair, w_slack, eta_band_min, set_by, set_ms)
VALUES (:tenant_id, :version, :w_eta, :w_fair, :w_slack, :eta_band_min, :set_by, (SELECT now_ms FROM clock));

-- name: read_policy
SELECT version, w_eta, w_fair, w_slack, eta_band_min, set_by, set_ms FROM policies
WHERE tenant_id = :tenant_id ORDER BY version DESC LIMIT 1;

-- Roster ------------------------------------------------------------------------------------------------------------

-- name: drop_overlapping_shifts
DELETE FROM shifts WHERE tenant_id = :tenant_id AND worker_id = :worker_id
  AND starts_ms < :ends_ms AND :starts_ms < ends_ms;

-- name: drop_coming_shifts
DELETE FROM shifts WHERE tenant_id = :tenant_id AND worker_id = :worker_id AND ends_ms > (SELECT now_ms FROM clock);

-- name: drop_coming_absences
DELETE FROM absences WHERE tenant_id = :tenant_id AND worker_id = :worker_id AND ends_ms > (SELECT now_ms FROM clock)
RETURNING absence_id;

-- name: write_shift
INSERT INTO shifts (tenant_id, worker_id, starts_ms, ends_ms) VALUES (:tenant_id, :worker_id, :starts_ms, :ends_ms);

-- name: write_absence
INSERT INTO absences (tenant_id, absence_id, worker_id, starts_ms, ends_ms, note)
VALUES (:tenant_id, :absence_id, :worker_id, :starts_ms, :ends_ms, :note);

-- name: list_promised
-- Each booking and each live offer of a worker, from the departure for it to its end.
SELECT held.job_id, held.starts_ms - held.travel_ms AS starts_ms, held.ends_ms FROM worker_jobs AS held
WHERE held.tenant_id = :tenant_id AND held.worker_id = :worker_id
UNION ALL
SELECT offers.job_id, offers.starts_ms - offers.travel_ms, offers.ends_ms FROM offers
WHERE offers.tenant_id = :tenant_id AND offers.worker_id = :worker_id AND offers.state = 'OFFERED'
  AND offers.expires_ms > (SELECT now_ms FROM clock)
ORDER BY starts_ms, job_id;

-- Offer -------------------------------------------------------------------------------------------------------------

-- name: claim_job
UPDATE jobs SET was = state, state = 'OFFERED', live_offer_id = :offer_id, version = version + 1
WHERE tenant_id = :tenant_id AND job_id = :job_id AND state IN ('OPEN', 'UNASSIGNED_ALERT') AND region_id = :region_id;

-- name: claim_worker
UPDATE workers SET live_offer_id = :offer_id
WHERE tenant_id = :tenant_id AND worker_id = :worker_id AND live_offer_id IS NULL AND region_id = :region_id
  AND generation = :generation AND moving_to IS NULL AND archived = 0;

-- name: check_room
SELECT 1 AS free FROM workers WHERE workers.tenant_id = :tenant_id AND workers.worker_id = :worker_id
  AND :lane < workers.capacity
  AND NOT EXISTS (SELECT 1 FROM worker_jobs AS held
                  WHERE held.tenant_id = workers.tenant_id AND held.worker_id = workers.worker_id AND held.lane = :lane
                    AND held.starts_ms < :ends_ms AND :starts_ms < held.ends_ms)
  AND NOT EXISTS (SELECT 1 FROM absences AS away
                  WHERE away.tenant_id = workers.tenant_id AND away.worker_id = workers.worker_id
                    AND away.starts_ms < :ends_ms AND :leaves_ms < away.ends_ms);

-- name: write_offer
INSERT INTO offers (tenant_id, offer_id, job_id, worker_id, state, created_ms, expires_ms, region_id, epoch, generation,
                    lane, arrival_ms, travel_ms, starts_ms, ends_ms, eta_s, band_from_ms, band_to_ms, confidence,
                    decision_id, made_by)
SELECT :tenant_id, :offer_id, :job_id, :worker_id, 'OFFERED', clock.now_ms, clock.now_ms + :ttl_ms, :region_id, :epoch,
       :generation, :lane, :arrival_ms, :travel_ms, :starts_ms, :ends_ms, :eta_s, :band_from_ms, :band_to_ms,
       :confidence, :decision_id, :made_by
FROM clock
RETURNING offer_id, expires_ms, created_ms;

-- name: write_attempt
INSERT INTO offer_attempts (tenant_id, job_id, worker_id, offer_id, kind, at_ms)
VALUES (:tenant_id, :job_id, :worker_id, :offer_id, :kind, (SELECT now_ms FROM clock));

-- name: mark_delivered
UPDATE offers SET delivered_ms = (SELECT now_ms FROM clock)
WHERE tenant_id = :tenant_id AND offer_id = :offer_id AND state = 'OFFERED' AND delivered_ms IS NULL;

-- Answers -----------------------------------------------------------------------------------------------------------

-- name: accept_offer
UPDATE offers SET state = 'ACCEPTED', answered_ms = (SELECT now_ms FROM clock)
WHERE tenant_id = :tenant_id AND offer_id = :offer_id AND worker_id = :worker_id AND state = 'OFFERED'
  AND expires_ms > (SELECT now_ms FROM clock) AND created_ms <= (SELECT now_ms FROM clock)
  AND epoch = (SELECT regions.epoch FROM regions
               WHERE regions.tenant_id = offers.tenant_id AND regions.region_id = offers.region_id)
  AND generation = (SELECT workers.generation FROM workers
                    WHERE workers.tenant_id = offers.tenant_id AND workers.worker_id = offers.worker_id)
  AND NOT EXISTS (SELECT 1 FROM absences AS away
                  WHERE away.tenant_id = offers.tenant_id AND away.worker_id = offers.worker_id
                    AND away.starts_ms < offers.ends_ms AND offers.starts_ms - offers.travel_ms < away.ends_ms)
RETURNING job_id;

-- name: book_time
INSERT INTO worker_jobs (tenant_id, worker_id, job_id, offer_id, lane, arrival_ms, travel_ms, starts_ms, ends_ms, day)
SELECT tenant_id, worker_id, job_id, offer_id, lane, arrival_ms, travel_ms, starts_ms, ends_ms, :day
FROM offers WHERE tenant_id = :tenant_id AND offer_id = :offer_id AND worker_id = :worker_id AND state = 'ACCEPTED';

-- name: take_job
UPDATE jobs SET was = state, state = 'ACCEPTED', live_offer_id = NULL, held_offer_id = :offer_id,
    worker_id = :worker_id, version = version + 1
WHERE tenant_id = :tenant_id AND job_id = :job_id AND state = 'OFFERED' AND live_offer_id = :offer_id;

-- name: free_worker
UPDATE workers SET live_offer_id = NULL
WHERE tenant_id = :tenant_id AND worker_id = :worker_id AND live_offer_id = :offer_id;

-- name: credit_day
INSERT INTO day_counts (tenant_id, worker_id, day, jobs) VALUES (:tenant_id, :worker_id, :day, 1)
ON CONFLICT (tenant_id, worker_id, day) DO UPDATE SET jobs = day_counts.jobs + 1;

-- name: debit_day
UPDATE day_counts SET jobs = jobs - 1
WHERE tenant_id = :tenant_id AND worker_id = :worker_id AND day = :day AND jobs > 0;

-- name: decline_offer
UPDATE offers SET state = 'DECLINED', answered_ms = (SELECT now_ms FROM clock)
WHERE tenant_id = :tenant_id AND offer_id = :offer_id AND worker_id = :worker_id AND state = 'OFFERED'
  AND expires_ms > (SELECT now_ms FROM clock) AND created_ms <= (SELECT now_ms FROM clock)
RETURNING job_id;

-- name: expire_offer
UPDATE offers SET state = 'EXPIRED', answered_ms = CASE WHEN created_ms <= (SELECT now_ms FROM clock)
                                                        THEN expires_ms ELSE created_ms END
WHERE tenant_id = :tenant_id AND offer_id = :offer_id AND state = 'OFFERED'
  AND (expires_ms <= (SELECT now_ms FROM clock) OR created_ms > (SELECT now_ms FROM clock))
RETURNING job_id, worker_id;

-- name: withdraw_offer
UPDATE offers SET state = 'WITHDRAWN', answered_ms = (SELECT now_ms FROM clock)
WHERE tenant_id = :tenant_id AND offer_id = :offer_id AND state = 'OFFERED'
RETURNING job_id, worker_id;

-- name: reopen_job
UPDATE jobs SET was = state, state = 'OPEN', live_offer_id = NULL, version = version + 1
WHERE tenant_id = :tenant_id AND job_id = :job_id AND state = 'OFFERED' AND live_offer_id = :offer_id;

-- name: forget_attempt
DELETE FROM offer_attempts WHERE tenant_id = :tenant_id AND job_id = :job_id AND worker_id = :worker_id
  AND offer_id = :offer_id AND kind = 'offered';

-- The held job ------------------------------------------------------------------------------------------------------

-- name: start_job
UPDATE jobs SET was = state, state = 'IN_PROGRESS', started_ms = (SELECT now_ms FROM clock), version = version + 1
WHERE tenant_id = :tenant_id AND job_id = :job_id AND state = 'ACCEPTED' AND held_offer_id = :offer_id
  AND worker_id = :worker_id;

-- name: mark_late
UPDATE jobs SET missed = 1
WHERE tenant_id = :tenant_id AND job_id = :job_id AND state = 'IN_PROGRESS' AND missed = 0 AND started_ms > due_by_ms;

-- name: finish_job
UPDATE jobs SET was = state, state = 'DONE', finished_ms = (SELECT now_ms FROM clock), done_by = worker_id,
    worker_id = NULL, held_offer_id = NULL, version = version + 1
WHERE tenant_id = :tenant_id AND job_id = :job_id AND state = 'IN_PROGRESS' AND held_offer_id = :offer_id
  AND worker_id = :worker_id;

-- name: release_job
UPDATE jobs SET was = state, state = 'OPEN', worker_id = NULL, held_offer_id = NULL, version = version + 1
WHERE tenant_id = :tenant_id AND job_id = :job_id AND state = 'ACCEPTED' AND held_offer_id = :offer_id;

-- name: unbook_time
DELETE FROM worker_jobs WHERE tenant_id = :tenant_id AND job_id = :job_id AND offer_id = :offer_id
RETURNING worker_id, day;

-- name: touch_idle
UPDATE workers SET idle_since_ms = (SELECT now_ms FROM clock) WHERE tenant_id = :tenant_id AND worker_id = :worker_id;

-- name: cancel_job
UPDATE jobs SET was = state, state = 'CANCELLED', worker_id = NULL, held_offer_id = NULL, live_offer_id = NULL,
    version = version + 1
WHERE tenant_id = :tenant_id AND job_id = :job_id
  AND state IN ('OPEN', 'UNASSIGNED_ALERT', 'OFFERED', 'ACCEPTED', 'IN_PROGRESS')
  AND COALESCE(held_offer_id, '') = :aimed_at;

-- name: alert_job
UPDATE jobs SET was = state, state = 'UNASSIGNED_ALERT', version = version + 1
WHERE tenant_id = :tenant_id AND job_id = :job_id AND state = 'OPEN' AND version = :version;

-- name: calm_job
UPDATE jobs SET was = state, state = 'OPEN', version = version + 1
WHERE tenant_id = :tenant_id AND job_id = :job_id AND state = 'UNASSIGNED_ALERT' AND version = :version;

-- name: miss_job
UPDATE jobs SET missed = 1
WHERE tenant_id = :tenant_id AND job_id = :job_id AND missed = 0
  AND state IN ('OPEN', 'UNASSIGNED_ALERT') AND due_by_ms < (SELECT now_ms FROM clock);

-- Handoff -----------------------------------------------------------------------------------------------------------

-- name: ask_handoff
UPDATE workers SET moving_to = :region_id
WHERE tenant_id = :tenant_id AND worker_id = :worker_id AND region_id <> :region_id;

-- name: check_asked
SELECT 1 AS asked FROM workers
WHERE tenant_id = :tenant_id AND worker_id = :worker_id AND moving_to = :region_id AND generation = :generation;

-- name: take_back_handoff
UPDATE workers SET moving_to = NULL
WHERE tenant_id = :tenant_id AND worker_id = :worker_id AND moving_to = :region_id AND generation = :generation;

-- name: move_worker
UPDATE workers SET region_id = :region_id, generation = generation + 1, moving_to = NULL
WHERE tenant_id = :tenant_id AND worker_id = :worker_id AND region_id <> :region_id AND generation = :generation
  AND live_offer_id IS NULL
RETURNING generation;

-- name: move_job
UPDATE jobs SET region_id = :region_id, version = version + 1
WHERE tenant_id = :tenant_id AND job_id = :job_id AND worker_id = :worker_id;

-- name: list_moving_workers
SELECT worker_id, moving_to, generation FROM workers
WHERE tenant_id = :tenant_id AND region_id = :region_id AND moving_to IS NOT NULL AND live_offer_id IS NULL ORDER BY worker_id;

-- Alerts ------------------------------------------------------------------------------------------------------------

-- name: read_open_alert
SELECT alert_id, detail FROM alerts WHERE tenant_id = :tenant_id AND kind = :kind AND cause = :cause AND state = 'OPEN';

-- name: write_alert
INSERT INTO alerts (tenant_id, alert_id, kind, cause, severity, job_id, worker_id, detail, opened_ms, last_ms)
SELECT :tenant_id, :alert_id, :kind, :cause, :severity, :job_id, :worker_id, :detail, clock.now_ms, clock.now_ms
FROM clock;

-- name: touch_alert
UPDATE alerts SET last_ms = (SELECT now_ms FROM clock), seen = seen + 1, detail = :detail
WHERE tenant_id = :tenant_id AND alert_id = :alert_id AND state = 'OPEN';

-- name: resolve_alert
UPDATE alerts SET state = 'RESOLVED', resolved_ms = (SELECT now_ms FROM clock)
WHERE tenant_id = :tenant_id AND alert_id = :alert_id AND state = 'OPEN';

-- name: ack_alert
UPDATE alerts SET acked_by = :actor WHERE tenant_id = :tenant_id AND alert_id = :alert_id AND state = 'OPEN'
  AND acked_by IS NULL;

-- name: own_alert
UPDATE alerts SET owner = :actor WHERE tenant_id = :tenant_id AND alert_id = :alert_id AND state = 'OPEN';

-- name: snooze_alert
UPDATE alerts SET snoozed_until_ms = (SELECT now_ms FROM clock) + :for_ms
WHERE tenant_id = :tenant_id AND alert_id = :alert_id AND state = 'OPEN';

-- name: escalate_alert
UPDATE alerts SET escalated = escalated + 1, severity = 1
WHERE tenant_id = :tenant_id AND alert_id = :alert_id AND state = 'OPEN';

-- name: list_open_alerts_of_job
SELECT alert_id, kind FROM alerts WHERE tenant_id = :tenant_id AND job_id = :job_id AND state = 'OPEN' ORDER BY alert_id;

-- Decisions and memory ----------------------------------------------------------------------------------------------

-- name: write_decision
INSERT INTO decisions (tenant_id, decision_id, seq, job_id, made_ms, outcome, total_us, summary, detail)
VALUES (:tenant_id, :decision_id, :seq, :job_id, (SELECT now_ms FROM clock), :outcome, :total_us, :summary, :detail);

-- name: write_road_memory
INSERT INTO road_memory (tenant_id, origin_cell, destination_cell, seconds, learned_ms)
VALUES (:tenant_id, :origin_cell, :destination_cell, :seconds, (SELECT now_ms FROM clock))
ON CONFLICT (tenant_id, origin_cell, destination_cell)
DO UPDATE SET seconds = excluded.seconds, learned_ms = excluded.learned_ms;

-- name: list_road_memory
SELECT origin_cell, destination_cell, seconds FROM road_memory WHERE tenant_id = :tenant_id
ORDER BY learned_ms DESC, origin_cell, destination_cell LIMIT :limit;

-- name: drop_decision_details
UPDATE decisions SET detail = NULL WHERE tenant_id = :tenant_id AND detail IS NOT NULL
  AND made_ms < (SELECT now_ms FROM clock) - :older_ms;

-- name: drop_road_memory
DELETE FROM road_memory WHERE tenant_id = :tenant_id AND learned_ms < (SELECT now_ms FROM clock) - :older_ms;

-- Audit -------------------------------------------------------------------------------------------------------------

-- name: read_audit_head
SELECT audit_heads.seq, audit_heads.hash, clock.now_ms FROM audit_heads, clock WHERE audit_heads.tenant_id = :tenant_id;

-- name: write_audit_head
INSERT INTO audit_heads (tenant_id, seq, hash) VALUES (:tenant_id, 0, :hash);

-- name: move_audit_head
UPDATE audit_heads SET seq = seq + 1, hash = :hash WHERE tenant_id = :tenant_id AND seq = :seq AND hash = :prev_hash;

-- name: write_audit
INSERT INTO audit (tenant_id, seq, at_ms, actor, role, act, job_id, worker_id, offer_id, reason, words, detail,
                   prev_hash, hash)
VALUES (:tenant_id, :seq, :at_ms, :actor, :role, :act, :job_id, :worker_id, :offer_id, :reason, :words, :detail,
        :prev_hash, :hash);

-- name: list_audit
SELECT seq, at_ms, actor, role, act, job_id, worker_id, offer_id, reason, words, detail, prev_hash, hash FROM audit
WHERE tenant_id = :tenant_id AND seq > :after_seq ORDER BY seq LIMIT :limit;

-- name: find_audit
SELECT seq FROM audit WHERE tenant_id = :tenant_id AND hash = :hash;

-- name: find_unaudited
-- What the other tables say was done and the audit does not: each offer, answer, job, end of a job, worker, leaving and
-- absence has its row.
SELECT 'offer' AS what, offers.offer_id AS id FROM offers
WHERE offers.tenant_id = :tenant_id
  AND NOT EXISTS (SELECT 1 FROM audit WHERE audit.tenant_id = offers.tenant_id AND audit.job_id = offers.job_id
                  AND audit.offer_id = offers.offer_id AND audit.act IN ('offer', 'override'))
UNION ALL
SELECT 'the answer to', offers.offer_id FROM offers
WHERE offers.tenant_id = :tenant_id AND offers.state IN ('ACCEPTED', 'DECLINED', 'EXPIRED')
  AND NOT EXISTS (SELECT 1 FROM audit WHERE audit.tenant_id = offers.tenant_id AND audit.job_id = offers.job_id
                  AND audit.offer_id = offers.offer_id
                  AND audit.act = CASE offers.state WHEN 'ACCEPTED' THEN 'accept' WHEN 'DECLINED' THEN 'decline'
                                  ELSE 'expire' END)
UNION ALL
SELECT 'job', jobs.job_id FROM jobs
WHERE jobs.tenant_id = :tenant_id
  AND NOT EXISTS (SELECT 1 FROM audit WHERE audit.tenant_id = jobs.tenant_id AND audit.job_id = jobs.job_id
                  AND audit.act = 'create job')
UNION ALL
SELECT 'the state of', jobs.job_id FROM jobs
WHERE jobs.tenant_id = :tenant_id AND jobs.state IN ('IN_PROGRESS', 'DONE', 'CANCELLED')
  AND NOT EXISTS (SELECT 1 FROM audit WHERE audit.tenant_id = jobs.tenant_id AND audit.job_id = jobs.job_id
                  AND audit.act = CASE jobs.state WHEN 'IN_PROGRESS' THEN 'start' WHEN 'DONE' THEN 'finish'
                                  ELSE 'cancel' END)
UNION ALL
SELECT 'worker', workers.worker_id FROM workers
WHERE workers.tenant_id = :tenant_id
  AND workers.worker_id NOT IN (SELECT audit.worker_id FROM audit WHERE audit.tenant_id = :tenant_id
                                AND audit.worker_id IS NOT NULL AND audit.act = 'create worker')
UNION ALL
SELECT 'the leaving of', workers.worker_id FROM workers
WHERE workers.tenant_id = :tenant_id AND workers.archived = 1
  AND workers.worker_id NOT IN (SELECT audit.worker_id FROM audit WHERE audit.tenant_id = :tenant_id
                                AND audit.worker_id IS NOT NULL AND audit.act = 'archive worker')
UNION ALL
SELECT 'the absences of', absences.worker_id FROM absences
WHERE absences.tenant_id = :tenant_id
  AND absences.worker_id NOT IN (SELECT audit.worker_id FROM audit WHERE audit.tenant_id = :tenant_id
                                AND audit.worker_id IS NOT NULL AND audit.act = 'absence')
LIMIT 1;

-- name: find_roster_act
SELECT seq FROM audit WHERE tenant_id = :tenant_id AND seq > :after_seq
  AND act IN ('create worker', 'amend worker', 'archive worker', 'worker back') LIMIT 1;

-- name: list_newest_audit
SELECT seq, at_ms, actor, role, act, job_id, worker_id, offer_id, reason, words, detail, prev_hash, hash FROM audit
WHERE tenant_id = :tenant_id ORDER BY seq DESC LIMIT :limit;

-- name: list_audit_of_job
SELECT seq, at_ms, actor, role, act, job_id, worker_id, offer_id, reason, words, detail, prev_hash, hash FROM audit
WHERE tenant_id = :tenant_id AND job_id = :job_id ORDER BY seq;

-- Reads -------------------------------------------------------------------------------------------------------------

-- name: list_tenants
SELECT tenant_id, name, zone, settings FROM tenants WHERE :tenant_id = :tenant_id ORDER BY tenant_id;

-- name: read_job
SELECT jobs.*, clock.now_ms FROM jobs, clock
WHERE jobs.tenant_id = :tenant_id AND jobs.job_id = :job_id;

-- name: list_jobs
SELECT * FROM jobs WHERE tenant_id = :tenant_id ORDER BY due_by_ms, job_id;

-- name: list_live_jobs
SELECT * FROM jobs WHERE tenant_id = :tenant_id AND state IN ('OPEN', 'UNASSIGNED_ALERT', 'OFFERED', 'ACCEPTED', 'IN_PROGRESS')
ORDER BY due_by_ms, job_id;

-- name: list_waiting_jobs
SELECT * FROM jobs WHERE tenant_id = :tenant_id AND region_id = :region_id AND state IN ('OPEN', 'UNASSIGNED_ALERT')
  AND missed = 0
  AND not_before_ms <= (SELECT now_ms FROM clock) + :horizon_ms
ORDER BY due_by_ms, priority DESC, job_id LIMIT :limit;

-- name: list_overdue_jobs
SELECT * FROM jobs WHERE tenant_id = :tenant_id AND region_id = :region_id AND missed = 0
  AND state IN ('OPEN', 'UNASSIGNED_ALERT') AND due_by_ms < (SELECT now_ms FROM clock)
ORDER BY due_by_ms, job_id LIMIT :limit;

-- name: read_worker
SELECT workers.*, areas.name AS area_name, areas.rings AS area_rings,
       (SELECT jobs FROM day_counts WHERE day_counts.tenant_id = workers.tenant_id
        AND day_counts.worker_id = workers.worker_id AND day_counts.day = :day) AS jobs_today,
       (SELECT MAX(at_ms) FROM offer_attempts AS tried WHERE tried.tenant_id = workers.tenant_id
        AND tried.job_id = :job_id AND tried.worker_id = workers.worker_id) AS tried_ms
FROM workers LEFT JOIN areas ON areas.tenant_id = workers.tenant_id AND areas.area_id = workers.area_id
WHERE workers.tenant_id = :tenant_id AND workers.worker_id = :worker_id;

-- name: list_workers
SELECT workers.*, areas.name AS area_name, areas.rings AS area_rings,
       (SELECT jobs FROM day_counts WHERE day_counts.tenant_id = workers.tenant_id
        AND day_counts.worker_id = workers.worker_id AND day_counts.day = :day) AS jobs_today, NULL AS tried_ms
FROM workers LEFT JOIN areas ON areas.tenant_id = workers.tenant_id AND areas.area_id = workers.area_id
WHERE workers.tenant_id = :tenant_id AND workers.archived = 0 ORDER BY workers.worker_id;

-- name: list_archived
SELECT worker_id, region_id FROM workers WHERE tenant_id = :tenant_id AND archived = 1;

-- name: list_on_shift
SELECT workers.worker_id, workers.skills FROM workers
WHERE workers.tenant_id = :tenant_id AND workers.archived = 0
  AND EXISTS (SELECT 1 FROM shifts WHERE shifts.tenant_id = workers.tenant_id AND shifts.worker_id = workers.worker_id
              AND shifts.starts_ms <= :at_ms AND :at_ms < shifts.ends_ms)
ORDER BY workers.worker_id LIMIT :limit;

-- name: list_on_shift_among
SELECT workers.worker_id, workers.region_id,
       (SELECT COUNT(*) FROM absences WHERE absences.tenant_id = workers.tenant_id
        AND absences.worker_id = workers.worker_id
        AND absences.starts_ms <= :at_ms AND :at_ms < absences.ends_ms) AS absences
FROM workers
WHERE workers.tenant_id = :tenant_id AND workers.worker_id IN (
    :w01, :w02, :w03, :w04, :w05, :w06, :w07, :w08, :w09, :w10, :w11, :w12, :w13, :w14, :w15, :w16,
    :w17, :w18, :w19, :w20, :w21, :w22, :w23, :w24, :w25, :w26, :w27, :w28, :w29, :w30, :w31, :w32
  ) AND workers.archived = 0
  AND EXISTS (SELECT 1 FROM shifts WHERE shifts.tenant_id = workers.tenant_id AND shifts.worker_id = workers.worker_id
              AND shifts.starts_ms <= :at_ms AND :at_ms < shifts.ends_ms)
ORDER BY workers.worker_id;

-- name: list_on_duty
SELECT shifts.worker_id, MIN(shifts.starts_ms) AS since_ms
FROM shifts JOIN workers ON workers.tenant_id = shifts.tenant_id AND workers.worker_id = shifts.worker_id
WHERE shifts.tenant_id = :tenant_id AND workers.archived = 0 AND shifts.starts_ms <= :at_ms AND :at_ms < shifts.ends_ms
  AND NOT EXISTS (SELECT 1 FROM absences WHERE absences.tenant_id = shifts.tenant_id
                  AND absences.worker_id = shifts.worker_id
                  AND absences.starts_ms <= :at_ms AND :at_ms < absences.ends_ms)
GROUP BY shifts.worker_id ORDER BY shifts.worker_id;

-- name: list_on_duty_among
-- Of these alone, so many at a time: a list of any length is told to each SQL in another way.
SELECT shifts.worker_id, MIN(shifts.starts_ms) AS since_ms
FROM shifts JOIN workers ON workers.tenant_id = shifts.tenant_id AND workers.worker_id = shifts.worker_id
WHERE shifts.tenant_id = :tenant_id AND shifts.worker_id IN (
    :w01, :w02, :w03, :w04, :w05, :w06, :w07, :w08, :w09, :w10, :w11, :w12, :w13, :w14, :w15, :w16,
    :w17, :w18, :w19, :w20, :w21, :w22, :w23, :w24, :w25, :w26, :w27, :w28, :w29, :w30, :w31, :w32
  ) AND workers.archived = 0 AND shifts.starts_ms <= :at_ms AND :at_ms < shifts.ends_ms
  AND NOT EXISTS (SELECT 1 FROM absences WHERE absences.tenant_id = shifts.tenant_id
                  AND absences.worker_id = shifts.worker_id
                  AND absences.starts_ms <= :at_ms AND :at_ms < absences.ends_ms)
GROUP BY shifts.worker_id ORDER BY shifts.worker_id;

-- name: count_on_duty
SELECT COUNT(DISTINCT shifts.worker_id) AS n
FROM shifts JOIN workers ON workers.tenant_id = shifts.tenant_id AND workers.worker_id = shifts.worker_id
WHERE shifts.tenant_id = :tenant_id AND workers.archived = 0 AND shifts.starts_ms <= :at_ms AND :at_ms < shifts.ends_ms
  AND NOT EXISTS (SELECT 1 FROM absences WHERE absences.tenant_id = shifts.tenant_id
                  AND absences.worker_id = shifts.worker_id
                  AND absences.starts_ms <= :at_ms AND :at_ms < absences.ends_ms);

-- name: count_workers
SELECT COUNT(*) AS n FROM workers WHERE tenant_id = :tenant_id AND archived = 0;

-- name: list_enrolled
SELECT worker_id, skills FROM workers WHERE tenant_id = :tenant_id AND archived = 0 ORDER BY worker_id;

-- name: list_shifts
SELECT starts_ms, ends_ms FROM shifts WHERE tenant_id = :tenant_id AND worker_id = :worker_id AND ends_ms > :from_ms
ORDER BY starts_ms;

-- name: list_absences
SELECT absence_id, starts_ms, ends_ms, note FROM absences
WHERE tenant_id = :tenant_id AND worker_id = :worker_id AND ends_ms > :from_ms ORDER BY starts_ms, absence_id;

-- name: list_bookings
SELECT held.job_id, held.offer_id, held.lane, held.arrival_ms, held.travel_ms, held.starts_ms, held.ends_ms,
       jobs.lat, jobs.lng, jobs.state, jobs.started_ms
FROM worker_jobs AS held JOIN jobs ON jobs.tenant_id = held.tenant_id AND jobs.job_id = held.job_id
WHERE held.tenant_id = :tenant_id AND held.worker_id = :worker_id ORDER BY held.starts_ms, held.lane;

-- name: list_all_bookings
SELECT held.worker_id, held.job_id, held.offer_id, held.lane, held.arrival_ms, held.travel_ms, held.starts_ms,
       held.ends_ms, jobs.lat, jobs.lng, jobs.state, jobs.started_ms, jobs.due_by_ms
FROM worker_jobs AS held JOIN jobs ON jobs.tenant_id = held.tenant_id AND jobs.job_id = held.job_id
WHERE held.tenant_id = :tenant_id ORDER BY held.starts_ms, held.job_id;

-- name: read_offer
SELECT offers.*, clock.now_ms, regions.epoch AS epoch_now, workers.generation AS generation_now, jobs.held_offer_id
FROM offers JOIN clock ON 1 = 1
JOIN regions ON regions.tenant_id = offers.tenant_id AND regions.region_id = offers.region_id
JOIN workers ON workers.tenant_id = offers.tenant_id AND workers.worker_id = offers.worker_id
JOIN jobs ON jobs.tenant_id = offers.tenant_id AND jobs.job_id = offers.job_id
WHERE offers.tenant_id = :tenant_id AND offers.offer_id = :offer_id;

-- name: list_live_offers
SELECT offers.*, clock.now_ms FROM offers, clock WHERE offers.tenant_id = :tenant_id AND offers.state = 'OFFERED'
ORDER BY offers.expires_ms, offers.offer_id;

-- name: list_offers_of_job
SELECT offers.*, clock.now_ms FROM offers, clock WHERE offers.tenant_id = :tenant_id AND offers.job_id = :job_id
ORDER BY offers.created_ms, offers.offer_id;

-- name: list_offers_of_worker
SELECT offers.*, clock.now_ms FROM offers, clock
WHERE offers.tenant_id = :tenant_id AND offers.worker_id = :worker_id AND offers.state = 'OFFERED';

-- name: list_due_offers
SELECT offer_id FROM offers WHERE tenant_id = :tenant_id AND region_id = :region_id AND state = 'OFFERED'
  AND (expires_ms <= (SELECT now_ms FROM clock) OR created_ms > (SELECT now_ms FROM clock))
ORDER BY expires_ms, offer_id LIMIT :limit;

-- name: list_alerts
SELECT alerts.*, clock.now_ms FROM alerts, clock WHERE alerts.tenant_id = :tenant_id AND alerts.state = 'OPEN'
ORDER BY alerts.severity, alerts.opened_ms, alerts.alert_id;

-- name: read_alert
SELECT alerts.*, clock.now_ms FROM alerts, clock WHERE alerts.tenant_id = :tenant_id AND alerts.alert_id = :alert_id;

-- name: list_decisions_of_job
SELECT decision_id, job_id, made_ms, outcome, total_us, summary, detail FROM decisions
WHERE tenant_id = :tenant_id AND job_id = :job_id ORDER BY seq DESC LIMIT :limit;

-- name: read_last_decision
SELECT outcome, summary FROM decisions
WHERE tenant_id = :tenant_id AND job_id = :job_id ORDER BY seq DESC LIMIT 1;

-- name: count_offers_since
SELECT state, COUNT(*) AS n FROM offers WHERE tenant_id = :tenant_id AND answered_ms >= :since_ms GROUP BY state ORDER BY state;

-- name: count_jobs
SELECT state, missed, COUNT(*) AS n FROM jobs WHERE tenant_id = :tenant_id GROUP BY state, missed ORDER BY state, missed;

-- name: count_alerts_since
SELECT COUNT(*) AS n FROM alerts WHERE tenant_id = :tenant_id AND opened_ms >= :since_ms;

-- name: list_day_counts
SELECT worker_id, day, jobs FROM day_counts WHERE tenant_id = :tenant_id AND day >= :from_day ORDER BY day, worker_id;

-- name: list_areas
SELECT area_id, name, rings FROM areas WHERE tenant_id = :tenant_id ORDER BY area_id;
