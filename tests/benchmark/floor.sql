-- What a durable charge needs at least, and no more: no foreign keys, no checks, one index beside the keys.
CREATE SCHEMA floor;

CREATE TABLE floor.api_key (
    digest text PRIMARY KEY,
    merchant_id uuid NOT NULL,
    livemode boolean NOT NULL
);

CREATE TABLE floor.source (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    merchant_id uuid NOT NULL,
    livemode boolean NOT NULL,
    used boolean NOT NULL DEFAULT false,
    card text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE floor.charge (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    merchant_id uuid NOT NULL,
    livemode boolean NOT NULL,
    source_id bigint NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    description text NOT NULL,
    status text NOT NULL DEFAULT 'pending',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON floor.charge (merchant_id, livemode, id);

CREATE TABLE floor.event (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    charge_id uuid NOT NULL,
    payload text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE floor.idempotency (
    merchant_id uuid NOT NULL,
    livemode boolean NOT NULL,
    key text NOT NULL,
    charge_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (merchant_id, livemode, key)
);

CREATE TABLE floor.ledger (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    charge_id uuid NOT NULL,
    account text NOT NULL,
    amount bigint NOT NULL
);

CREATE TABLE floor.outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    charge_id uuid NOT NULL,
    due_at timestamptz NOT NULL DEFAULT now()
);

INSERT INTO floor.api_key VALUES ('key', uuidv7(), false);
