-- The schema of Callboard: one text, two databases (SQLite >= 3.40, PostgreSQL >= 15), dialect tails at the end.
-- Times are integer milliseconds UTC and say so in their names. Every key begins with the tenant.
-- What must never be is refused here, so that a bug in Python cannot double-book.

CREATE TABLE store_info (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE tenants (
    tenant_id  TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL,
    zone       TEXT NOT NULL,
    settings   TEXT NOT NULL DEFAULT '{}',
    created_ms BIGINT NOT NULL
);

-- Numbers for people: J-17, W-4, A-9.
CREATE TABLE counters (
    tenant_id TEXT NOT NULL REFERENCES tenants (tenant_id),
    kind      TEXT NOT NULL,
    last      BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, kind)
);

CREATE TABLE policies (
    tenant_id    TEXT NOT NULL REFERENCES tenants (tenant_id),
    version      BIGINT NOT NULL,
    w_eta        DOUBLE PRECISION NOT NULL CHECK (w_eta >= 0),
    w_fair       DOUBLE PRECISION NOT NULL CHECK (w_fair >= 0),
    w_slack      DOUBLE PRECISION NOT NULL CHECK (w_slack >= 0),
    eta_band_min BIGINT NOT NULL CHECK (eta_band_min >= 0),
    set_by       TEXT NOT NULL,
    set_ms       BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, version)
);

-- Who may sit at the desk. The passphrase is kept as an argon2 hash. A site without operators asks nobody.
CREATE TABLE operators (
    tenant_id  TEXT NOT NULL REFERENCES tenants (tenant_id),
    name       TEXT NOT NULL,
    role       TEXT NOT NULL CHECK (role IN ('dispatcher', 'supervisor', 'trainer')),
    passphrase TEXT NOT NULL,
    added_ms   BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, name)
);

CREATE TABLE areas (
    tenant_id TEXT NOT NULL REFERENCES tenants (tenant_id),
    area_id   TEXT NOT NULL,
    name      TEXT NOT NULL,
    rings     TEXT NOT NULL,
    PRIMARY KEY (tenant_id, area_id)
);

-- One automatic dispatcher a region at a time; each new one raises the epoch (fencing token).
CREATE TABLE regions (
    tenant_id      TEXT NOT NULL REFERENCES tenants (tenant_id),
    region_id      TEXT NOT NULL,
    area_id        TEXT,
    epoch          BIGINT NOT NULL DEFAULT 0 CHECK (epoch >= 0),
    holder         TEXT,
    lease_until_ms BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, region_id),
    FOREIGN KEY (tenant_id, area_id) REFERENCES areas (tenant_id, area_id)
);

CREATE TABLE job_moves (was TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (was, state));
INSERT INTO job_moves (was, state) VALUES
    ('NEW', 'OPEN'),
    ('OPEN', 'OFFERED'), ('OPEN', 'UNASSIGNED_ALERT'), ('OPEN', 'CANCELLED'),
    ('UNASSIGNED_ALERT', 'OPEN'), ('UNASSIGNED_ALERT', 'OFFERED'), ('UNASSIGNED_ALERT', 'CANCELLED'),
    ('OFFERED', 'OPEN'), ('OFFERED', 'ACCEPTED'), ('OFFERED', 'CANCELLED'),
    ('ACCEPTED', 'OPEN'), ('ACCEPTED', 'IN_PROGRESS'), ('ACCEPTED', 'CANCELLED'),
    ('IN_PROGRESS', 'DONE'), ('IN_PROGRESS', 'CANCELLED');

-- No keys to jobs and workers: those point here (a table may only name tables above it), and an offer is only ever
-- written after its job and its worker were claimed in the same transaction.
CREATE TABLE offers (
    tenant_id    TEXT NOT NULL,
    offer_id     TEXT NOT NULL,
    job_id       TEXT NOT NULL,
    worker_id    TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('OFFERED', 'ACCEPTED', 'DECLINED', 'EXPIRED', 'WITHDRAWN')),
    created_ms   BIGINT NOT NULL,
    expires_ms   BIGINT NOT NULL,
    answered_ms  BIGINT,
    delivered_ms BIGINT,
    region_id    TEXT NOT NULL,
    epoch        BIGINT NOT NULL,
    generation   BIGINT NOT NULL,
    lane         BIGINT NOT NULL CHECK (lane >= 0),
    arrival_ms   BIGINT NOT NULL,
    travel_ms    BIGINT NOT NULL CHECK (travel_ms >= 0),
    starts_ms    BIGINT NOT NULL,
    ends_ms      BIGINT NOT NULL,
    eta_s        BIGINT NOT NULL CHECK (eta_s >= 0),
    band_from_ms BIGINT NOT NULL,
    band_to_ms   BIGINT NOT NULL,
    confidence   TEXT NOT NULL CHECK (confidence IN ('high', 'low', 'manual')),
    decision_id  TEXT,
    made_by      TEXT NOT NULL,
    PRIMARY KEY (tenant_id, offer_id),
    FOREIGN KEY (tenant_id, region_id) REFERENCES regions (tenant_id, region_id),
    CHECK (expires_ms > created_ms),
    CHECK (starts_ms < ends_ms),
    CHECK ((state = 'OFFERED') = (answered_ms IS NULL))
);
CREATE UNIQUE INDEX one_live_offer_a_job ON offers (tenant_id, job_id) WHERE state = 'OFFERED';
CREATE UNIQUE INDEX one_live_offer_a_worker ON offers (tenant_id, worker_id) WHERE state = 'OFFERED';
CREATE INDEX live_offers_by_expiry ON offers (tenant_id, expires_ms) WHERE state = 'OFFERED';
CREATE INDEX offers_of_job ON offers (tenant_id, job_id, created_ms);
CREATE INDEX offers_by_answer ON offers (tenant_id, answered_ms);

CREATE TABLE workers (
    tenant_id     TEXT NOT NULL,
    worker_id     TEXT NOT NULL,
    name          TEXT NOT NULL,
    skills        TEXT NOT NULL,
    home_lat      DOUBLE PRECISION NOT NULL CHECK (home_lat BETWEEN -90 AND 90),
    home_lng      DOUBLE PRECISION NOT NULL CHECK (home_lng BETWEEN -180 AND 180),
    capacity      BIGINT NOT NULL CHECK (capacity > 0),
    region_id     TEXT NOT NULL,
    moving_to     TEXT,
    generation    BIGINT NOT NULL DEFAULT 1 CHECK (generation > 0),
    area_id       TEXT,
    travels       BIGINT NOT NULL DEFAULT 0 CHECK (travels IN (0, 1)),
    live_offer_id TEXT,
    archived      BIGINT NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
    idle_since_ms BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, worker_id),
    FOREIGN KEY (tenant_id, region_id) REFERENCES regions (tenant_id, region_id),
    FOREIGN KEY (tenant_id, moving_to) REFERENCES regions (tenant_id, region_id),
    FOREIGN KEY (tenant_id, area_id) REFERENCES areas (tenant_id, area_id),
    FOREIGN KEY (tenant_id, live_offer_id) REFERENCES offers (tenant_id, offer_id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE shifts (
    tenant_id TEXT NOT NULL,
    worker_id TEXT NOT NULL,
    starts_ms BIGINT NOT NULL,
    ends_ms   BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, worker_id, starts_ms),
    FOREIGN KEY (tenant_id, worker_id) REFERENCES workers (tenant_id, worker_id),
    CHECK (starts_ms < ends_ms)
);

CREATE TABLE absences (
    tenant_id  TEXT NOT NULL,
    absence_id TEXT NOT NULL,
    worker_id  TEXT NOT NULL,
    starts_ms  BIGINT NOT NULL,
    ends_ms    BIGINT NOT NULL,
    note       TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, absence_id),
    FOREIGN KEY (tenant_id, worker_id) REFERENCES workers (tenant_id, worker_id),
    CHECK (starts_ms < ends_ms)
);
CREATE INDEX absences_of_worker ON absences (tenant_id, worker_id, ends_ms);

-- Jobs accepted on a local day of the site: the day is the key, so midnight needs no reset.
CREATE TABLE day_counts (
    tenant_id TEXT NOT NULL,
    worker_id TEXT NOT NULL,
    day       TEXT NOT NULL,
    jobs      BIGINT NOT NULL CHECK (jobs >= 0),
    PRIMARY KEY (tenant_id, worker_id, day),
    FOREIGN KEY (tenant_id, worker_id) REFERENCES workers (tenant_id, worker_id)
);

-- A booking: what an accepted job reserves. offer_id is the assignment; a release deletes the row.
CREATE TABLE worker_jobs (
    tenant_id  TEXT NOT NULL,
    worker_id  TEXT NOT NULL,
    job_id     TEXT NOT NULL,
    offer_id   TEXT NOT NULL,
    lane       BIGINT NOT NULL CHECK (lane >= 0),
    arrival_ms BIGINT NOT NULL,
    travel_ms  BIGINT NOT NULL,
    starts_ms  BIGINT NOT NULL,
    ends_ms    BIGINT NOT NULL,
    day        TEXT NOT NULL,
    PRIMARY KEY (tenant_id, worker_id, job_id, offer_id),
    UNIQUE (tenant_id, job_id),
    UNIQUE (tenant_id, offer_id),
    FOREIGN KEY (tenant_id, worker_id) REFERENCES workers (tenant_id, worker_id),
    FOREIGN KEY (tenant_id, offer_id) REFERENCES offers (tenant_id, offer_id),
    CHECK (starts_ms < ends_ms)
);

CREATE TABLE jobs (
    tenant_id     TEXT NOT NULL REFERENCES tenants (tenant_id),
    job_id        TEXT NOT NULL,
    type          TEXT NOT NULL,
    skills        TEXT NOT NULL,
    lat           DOUBLE PRECISION NOT NULL CHECK (lat BETWEEN -90 AND 90),
    lng           DOUBLE PRECISION NOT NULL CHECK (lng BETWEEN -180 AND 180),
    not_before_ms BIGINT NOT NULL,
    due_by_ms     BIGINT NOT NULL,
    duration_ms   BIGINT NOT NULL CHECK (duration_ms > 0),
    priority      BIGINT NOT NULL CHECK (priority BETWEEN 1 AND 5),
    address       TEXT NOT NULL DEFAULT '',
    notes         TEXT NOT NULL DEFAULT '',
    attachments   TEXT NOT NULL DEFAULT '{}',
    region_id     TEXT NOT NULL,
    was           TEXT NOT NULL DEFAULT 'NEW',
    state         TEXT NOT NULL DEFAULT 'OPEN',
    version       BIGINT NOT NULL DEFAULT 1,
    created_ms    BIGINT NOT NULL,
    live_offer_id TEXT,
    held_offer_id TEXT,
    worker_id     TEXT,
    done_by       TEXT,
    started_ms    BIGINT,
    finished_ms   BIGINT,
    missed        BIGINT NOT NULL DEFAULT 0 CHECK (missed IN (0, 1)),
    PRIMARY KEY (tenant_id, job_id),
    FOREIGN KEY (was, state) REFERENCES job_moves (was, state),
    FOREIGN KEY (tenant_id, region_id) REFERENCES regions (tenant_id, region_id),
    FOREIGN KEY (tenant_id, live_offer_id) REFERENCES offers (tenant_id, offer_id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (tenant_id, worker_id, job_id, held_offer_id)
        REFERENCES worker_jobs (tenant_id, worker_id, job_id, offer_id) DEFERRABLE INITIALLY DEFERRED,
    CHECK (not_before_ms <= due_by_ms),
    CHECK ((state = 'OFFERED') = (live_offer_id IS NOT NULL)),
    CHECK ((state IN ('ACCEPTED', 'IN_PROGRESS')) = (worker_id IS NOT NULL)),
    CHECK ((worker_id IS NULL) = (held_offer_id IS NULL)),
    CHECK ((state = 'DONE') = (finished_ms IS NOT NULL))
);
-- A new offer is looked for among those that point to it: without these two indexes, in every worker and every job.
CREATE INDEX worker_of_live_offer ON workers (tenant_id, live_offer_id) WHERE live_offer_id IS NOT NULL;
CREATE INDEX job_of_live_offer ON jobs (tenant_id, live_offer_id) WHERE live_offer_id IS NOT NULL;
CREATE INDEX waiting_jobs ON jobs (tenant_id, due_by_ms) WHERE state IN ('OPEN', 'UNASSIGNED_ALERT');
CREATE INDEX held_jobs ON jobs (tenant_id, state) WHERE state IN ('ACCEPTED', 'IN_PROGRESS');

-- What feeds the cooldown: a worker was offered the job, or released from it.
CREATE TABLE offer_attempts (
    tenant_id TEXT NOT NULL,
    job_id    TEXT NOT NULL,
    worker_id TEXT NOT NULL,
    offer_id  TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('offered', 'released')),
    at_ms     BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, job_id, worker_id, offer_id, kind),
    FOREIGN KEY (tenant_id, job_id) REFERENCES jobs (tenant_id, job_id)
);

CREATE TABLE job_keys (
    tenant_id TEXT NOT NULL,
    key       TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    job_id    TEXT NOT NULL,
    PRIMARY KEY (tenant_id, key),
    FOREIGN KEY (tenant_id, job_id) REFERENCES jobs (tenant_id, job_id)
);

-- summary stays; detail is location-derived and is emptied after some days.
CREATE TABLE decisions (
    tenant_id   TEXT NOT NULL,
    decision_id TEXT NOT NULL,
    seq         BIGINT NOT NULL,
    job_id      TEXT NOT NULL,
    made_ms     BIGINT NOT NULL,
    outcome     TEXT NOT NULL,
    total_us    BIGINT NOT NULL,
    summary     TEXT NOT NULL,
    detail      TEXT,
    PRIMARY KEY (tenant_id, decision_id),
    FOREIGN KEY (tenant_id, job_id) REFERENCES jobs (tenant_id, job_id)
);
CREATE INDEX decisions_of_job ON decisions (tenant_id, job_id, seq);

CREATE TABLE road_memory (
    tenant_id        TEXT NOT NULL REFERENCES tenants (tenant_id),
    origin_cell      BIGINT NOT NULL,
    destination_cell BIGINT NOT NULL,
    seconds          BIGINT,
    learned_ms       BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, origin_cell, destination_cell)
);

CREATE TABLE alerts (
    tenant_id        TEXT NOT NULL REFERENCES tenants (tenant_id),
    alert_id         TEXT NOT NULL,
    kind             TEXT NOT NULL,
    cause            TEXT NOT NULL,
    severity         BIGINT NOT NULL CHECK (severity BETWEEN 1 AND 3),
    job_id           TEXT,
    worker_id        TEXT,
    detail           TEXT NOT NULL,
    state            TEXT NOT NULL DEFAULT 'OPEN' CHECK (state IN ('OPEN', 'RESOLVED')),
    opened_ms        BIGINT NOT NULL,
    last_ms          BIGINT NOT NULL,
    seen             BIGINT NOT NULL DEFAULT 1,
    acked_by         TEXT,
    owner            TEXT,
    snoozed_until_ms BIGINT NOT NULL DEFAULT 0,
    escalated        BIGINT NOT NULL DEFAULT 0,
    resolved_ms      BIGINT,
    PRIMARY KEY (tenant_id, alert_id),
    CHECK ((state = 'RESOLVED') = (resolved_ms IS NOT NULL))
);
CREATE UNIQUE INDEX one_open_alert_a_cause ON alerts (tenant_id, kind, cause) WHERE state = 'OPEN';
CREATE INDEX alerts_by_opening ON alerts (tenant_id, opened_ms);

-- Append-only and hash-chained; audit_heads names the last row, so that a cut tail shows.
CREATE TABLE audit (
    tenant_id TEXT NOT NULL,
    seq       BIGINT NOT NULL CHECK (seq > 0),
    at_ms     BIGINT NOT NULL,
    actor     TEXT NOT NULL,
    role      TEXT NOT NULL,
    act       TEXT NOT NULL,
    job_id    TEXT,
    worker_id TEXT,
    offer_id  TEXT,
    reason    TEXT NOT NULL DEFAULT '',
    words     TEXT NOT NULL DEFAULT '',
    detail    TEXT NOT NULL DEFAULT '{}',
    prev_hash TEXT NOT NULL,
    hash      TEXT NOT NULL UNIQUE,
    PRIMARY KEY (tenant_id, seq)
);
CREATE INDEX audit_of_job ON audit (tenant_id, job_id, seq);

CREATE TABLE audit_heads (
    tenant_id TEXT NOT NULL PRIMARY KEY REFERENCES tenants (tenant_id),
    seq       BIGINT NOT NULL,
    hash      TEXT NOT NULL
);

-- dialect: live
-- The clock is a view: statements ask it, nobody passes a time in.
CREATE VIEW clock (now_ms) AS
    SELECT CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER);

-- dialect: training
-- A training site's clock is a row: "advance 21 s" is an UPDATE, and only here.
CREATE TABLE clock (now_ms BIGINT NOT NULL);
CREATE TRIGGER one_clock BEFORE INSERT ON clock WHEN (SELECT COUNT(*) FROM clock) > 0
BEGIN SELECT RAISE(ABORT, 'one_clock'); END;
INSERT INTO clock (now_ms) VALUES (CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER));

-- dialect: sqlite
CREATE TRIGGER no_double_booking BEFORE INSERT ON worker_jobs
WHEN EXISTS (SELECT 1 FROM worker_jobs AS held
             WHERE held.tenant_id = NEW.tenant_id AND held.worker_id = NEW.worker_id AND held.lane = NEW.lane
               AND held.starts_ms < NEW.ends_ms AND NEW.starts_ms < held.ends_ms)
BEGIN SELECT RAISE(ABORT, 'no_double_booking'); END;
CREATE TRIGGER no_booking_beyond_capacity BEFORE INSERT ON worker_jobs
WHEN NEW.lane >= (SELECT capacity FROM workers
                  WHERE workers.tenant_id = NEW.tenant_id AND workers.worker_id = NEW.worker_id)
BEGIN SELECT RAISE(ABORT, 'no_booking_beyond_capacity'); END;
CREATE TRIGGER no_rebooking BEFORE UPDATE OF tenant_id, worker_id, job_id, offer_id, lane, starts_ms ON worker_jobs
BEGIN SELECT RAISE(ABORT, 'no_rebooking'); END;
CREATE TRIGGER no_longer_booking BEFORE UPDATE OF ends_ms ON worker_jobs WHEN NEW.ends_ms > OLD.ends_ms
BEGIN SELECT RAISE(ABORT, 'no_longer_booking'); END;
CREATE TRIGGER no_capacity_below_lanes BEFORE UPDATE OF capacity ON workers
WHEN EXISTS (SELECT 1 FROM worker_jobs AS held
             WHERE held.tenant_id = NEW.tenant_id AND held.worker_id = NEW.worker_id AND held.lane >= NEW.capacity)
BEGIN SELECT RAISE(ABORT, 'no_capacity_below_lanes'); END;
CREATE TRIGGER no_untrue_move BEFORE UPDATE OF state, was ON jobs
WHEN NEW.was <> OLD.state AND NOT (NEW.was = OLD.was AND NEW.state = OLD.state)
BEGIN SELECT RAISE(ABORT, 'no_untrue_move'); END;
CREATE TRIGGER no_job_born_moved BEFORE INSERT ON jobs WHEN NEW.was <> 'NEW'
BEGIN SELECT RAISE(ABORT, 'no_job_born_moved'); END;
CREATE TRIGGER no_job_deleted BEFORE DELETE ON jobs
BEGIN SELECT RAISE(ABORT, 'no_job_deleted'); END;
CREATE TRIGGER no_offer_revived BEFORE UPDATE OF state ON offers WHEN OLD.state <> 'OFFERED' AND NEW.state <> OLD.state
BEGIN SELECT RAISE(ABORT, 'no_offer_revived'); END;
CREATE TRIGGER no_offer_deleted BEFORE DELETE ON offers
BEGIN SELECT RAISE(ABORT, 'no_offer_deleted'); END;
CREATE TRIGGER no_epoch_lowered BEFORE UPDATE OF epoch ON regions WHEN NEW.epoch < OLD.epoch
BEGIN SELECT RAISE(ABORT, 'no_epoch_lowered'); END;
CREATE TRIGGER no_audit_edit BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'no_audit_edit'); END;
CREATE TRIGGER no_audit_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'no_audit_delete'); END;
