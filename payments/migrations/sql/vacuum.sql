-- By default a fifth of a table must be dead before it is cleaned: of ten million attempts, two million. An index is
-- read whole to clean it, so a share it stays; the cost limit keeps it from falling behind a long load.
DO $$
DECLARE
    growing regclass;
BEGIN
    FOREACH growing IN ARRAY ARRAY['payments_attempt', 'payments_card', 'payments_charge',
        'payments_idempotencyrecord', 'payments_posting', 'payments_refund', 'payments_source']::regclass[]
    LOOP
        EXECUTE format('ALTER TABLE %s SET (autovacuum_vacuum_scale_factor = 0.02,'
            ' autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,'
            ' autovacuum_vacuum_cost_limit = 1000)', growing);
    END LOOP;
END $$;
