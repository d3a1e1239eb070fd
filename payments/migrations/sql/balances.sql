-- The rows' index holds no sum, and space is left on their pages, so an update writes no index.
ALTER TABLE payments_runningbalance SET (fillfactor = 50);

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
