-- The least SQL of a durable charge: what is noted before the provider is asked, and what comes of it, each committed.
-- A client takes its own sources, from :first on; a source that is not there to be used ends the run.
\set next :next + 1
\set source :first + :client_id * :each + :next - 1
\set amount random(100, 1000000)
BEGIN;
SELECT merchant_id AS merchant FROM floor.api_key WHERE digest = 'key' \gset
UPDATE floor.source SET used = true WHERE id = :source AND NOT used RETURNING id AS used \gset
INSERT INTO floor.charge (merchant_id, livemode, source_id, amount, currency, description)
    VALUES (:merchant, false, :source, :amount, 'PHP', 'Order 1001') RETURNING id AS charge \gset
INSERT INTO floor.event (charge_id, payload) VALUES (:charge, repeat('x', 1000));
INSERT INTO floor.idempotency (merchant_id, livemode, key, charge_id) VALUES (:merchant, false, :charge, :charge);
COMMIT;
BEGIN;
UPDATE floor.charge SET status = 'succeeded' WHERE id = :charge AND status = 'pending';
INSERT INTO floor.ledger (charge_id, account, amount)
    VALUES (:charge, 'receivable', :amount), (:charge, 'pending', 0 - :amount);
INSERT INTO floor.outbox (charge_id) VALUES (:charge);
COMMIT;
