-- A merchant's balance is kept by the postings themselves, and read without them.
--
-- A statement writes one row for each merchant, mode and currency that it posts for, always in the same order, so no two
-- statements wait for each other. The rows' index holds no sum, and space is left on their pages, so an update writes no
-- index.
ALTER TABLE payments_runningbalance SET (fillfactor = 50);

CREATE FUNCTION payments_add_to_balances() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payments_runningbalance AS kept (merchant_id, livemode, currency, shard,
        provider_hold, merchant_hold, provider_receivable, bank,
        merchant_pending, merchant_payable, merchant_reserve, payouts_in_transit, refunds_in_transit, reversals, fees)
    SELECT merchant_id, livemode, currency, pg_backend_pid() % 16,
        coalesce(sum(amount) FILTER (WHERE account = 'provider_hold'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'merchant_hold'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'provider_receivable'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'bank'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'merchant_pending'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'merchant_payable'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'merchant_reserve'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'payouts_in_transit'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'refunds_in_transit'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'reversals'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'fees'), 0)
    FROM posted GROUP BY merchant_id, livemode, currency ORDER BY merchant_id, livemode, currency
    ON CONFLICT (merchant_id, livemode, currency, shard) DO UPDATE SET
        provider_hold = kept.provider_hold + excluded.provider_hold,
        merchant_hold = kept.merchant_hold + excluded.merchant_hold,
        provider_receivable = kept.provider_receivable + excluded.provider_receivable,
        bank = kept.bank + excluded.bank,
        merchant_pending = kept.merchant_pending + excluded.merchant_pending,
        merchant_payable = kept.merchant_payable + excluded.merchant_payable,
        merchant_reserve = kept.merchant_reserve + excluded.merchant_reserve,
        payouts_in_transit = kept.payouts_in_transit + excluded.payouts_in_transit,
        refunds_in_transit = kept.refunds_in_transit + excluded.refunds_in_transit,
        reversals = kept.reversals + excluded.reversals,
        fees = kept.fees + excluded.fees;
    RETURN NULL;
END $$;
CREATE TRIGGER payments_posting_adds_to_balances AFTER INSERT ON payments_posting
REFERENCING NEW TABLE AS posted FOR EACH STATEMENT EXECUTE FUNCTION payments_add_to_balances();

-- Sums all postings anew, after rows were written without triggers.
CREATE FUNCTION payments_sum_balances() RETURNS void LANGUAGE sql AS $$
    LOCK TABLE payments_posting IN SHARE ROW EXCLUSIVE MODE;
    DELETE FROM payments_runningbalance;
    INSERT INTO payments_runningbalance (merchant_id, livemode, currency, shard,
        provider_hold, merchant_hold, provider_receivable, bank,
        merchant_pending, merchant_payable, merchant_reserve, payouts_in_transit, refunds_in_transit, reversals, fees)
    SELECT merchant_id, livemode, currency, 0,
        coalesce(sum(amount) FILTER (WHERE account = 'provider_hold'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'merchant_hold'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'provider_receivable'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'bank'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'merchant_pending'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'merchant_payable'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'merchant_reserve'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'payouts_in_transit'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'refunds_in_transit'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'reversals'), 0),
        coalesce(sum(amount) FILTER (WHERE account = 'fees'), 0)
    FROM payments_posting GROUP BY merchant_id, livemode, currency;
$$;
