-- Django makes no partitioned tables. It has one partition for each day; the module of partitions makes them.
CREATE TABLE payments_apirequest (
    id uuid PRIMARY KEY,
    request_id uuid NOT NULL,
    livemode boolean NOT NULL,
    method varchar(10) NOT NULL,
    path varchar(200) NOT NULL,
    status smallint NOT NULL CHECK (status >= 0),
    milliseconds integer NOT NULL CHECK (milliseconds >= 0),
    created_at timestamptz NOT NULL,
    asked text NOT NULL,
    answered text NOT NULL,
    merchant_id uuid NOT NULL,
    api_key_id uuid NOT NULL
) PARTITION BY RANGE (id);
CREATE INDEX request_of_merchant ON payments_apirequest (merchant_id, livemode, id);
CREATE INDEX request_by_its_id ON payments_apirequest (request_id);
