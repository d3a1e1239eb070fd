-- Django makes no partitioned tables. Each has one partition for each month; the module of partitions makes them.
CREATE TABLE payments_event (
    id uuid PRIMARY KEY,
    livemode boolean NOT NULL,
    type varchar(30) NOT NULL,
    object_id uuid NOT NULL,
    sequence integer NOT NULL,
    payload bytea NOT NULL,
    request_id uuid,
    created_at timestamptz NOT NULL,
    merchant_id uuid NOT NULL,
    api_key_id uuid
) PARTITION BY RANGE (id);
CREATE INDEX event_of_merchant ON payments_event (merchant_id, livemode, id);
CREATE INDEX event_of_type ON payments_event (merchant_id, livemode, type, id);

CREATE TABLE payments_webhook (
    id uuid PRIMARY KEY,
    livemode boolean NOT NULL,
    url varchar(2083) NOT NULL,
    receiver varchar(300) NOT NULL COLLATE "C",
    state varchar(9) NOT NULL,
    tries integer NOT NULL CHECK (tries >= 0),
    failures integer NOT NULL CHECK (failures >= 0),
    first_try_at timestamptz,
    due_at timestamptz,
    leased_until timestamptz,
    created_at timestamptz NOT NULL,
    event_id uuid NOT NULL,
    merchant_id uuid NOT NULL,
    endpoint_id uuid,
    CONSTRAINT webhook_waiting_has_due_at CHECK (
        (due_at IS NOT NULL AND state = 'waiting')
        OR (due_at IS NULL AND leased_until IS NULL AND state IN ('delivered', 'exhausted', 'gone', 'cancelled')))
) PARTITION BY RANGE (id);
CREATE INDEX webhook_of_merchant ON payments_webhook (merchant_id, livemode, id);
CREATE INDEX webhook_due_of_receiver ON payments_webhook (merchant_id, livemode, receiver, due_at, id)
WHERE due_at IS NOT NULL;
CREATE INDEX webhook_given_up ON payments_webhook (id) WHERE state IN ('exhausted', 'gone');

-- A sequence numbers the tries, because a partition cannot have an identity column of its own.
CREATE TABLE payments_webhookattempt (
    id bigserial,
    number integer NOT NULL CHECK (number >= 0),
    started_at timestamptz NOT NULL,
    milliseconds integer NOT NULL CHECK (milliseconds >= 0),
    status smallint CHECK (status >= 0),
    headers text NOT NULL,
    answer bytea NOT NULL,
    error varchar(60) NOT NULL,
    reason varchar(200) NOT NULL,
    webhook_id uuid NOT NULL,
    merchant_id uuid NOT NULL,
    PRIMARY KEY (webhook_id, number),
    CONSTRAINT attempt_was_answered_or_failed CHECK (
        (error = '' AND status IS NOT NULL) OR (status IS NULL AND NOT error = ''))
) PARTITION BY RANGE (webhook_id);
CREATE TRIGGER payments_webhookattempt_is_immutable BEFORE UPDATE ON payments_webhookattempt
FOR EACH ROW EXECUTE FUNCTION payments_refuse_change();

-- True of each ID. The planner takes it to cost as much as 500 pages read in a row; it costs next to nothing.
CREATE FUNCTION payments_dear(id uuid) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 200000 AS $$
BEGIN
    RETURN true;
END $$;
