-- The least SQL of a source: its one row.
INSERT INTO floor.source (merchant_id, livemode, card)
    VALUES ('01a20085-3203-73fe-92bf-404f3111f4e4', false, repeat('x', 300));
