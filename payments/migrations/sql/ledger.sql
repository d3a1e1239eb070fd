-- What a statement posts, it posts whole: journals that balance, each about one charge or payout that is there, and of
-- its merchant, mode and currency. Its lines are numbered from 1, each number once: the bits 1 to n. A first line is
-- there once, so no later statement adds to a journal. Neither postings nor settlements, nor what they are about, are
-- ever deleted.
--
-- All of this is done once for a statement: foreign keys would look for the same charge again for each line.
--
-- A merchant's balance is kept by the postings themselves, and read without them. A statement writes one row for each
-- merchant, mode and currency that it posts for, always in the same order, so no two statements wait for each other.
--
-- Each part of a merchant's balance is paid out once: a settlement when its day is over, any other posting at once. A
-- settlement that was paid out takes no more postings, and a payout waits for those that are being written.
CREATE FUNCTION payments_post() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    broken uuid;
BEGIN
    SELECT journal INTO broken FROM posted
    GROUP BY journal, charge_id, payout_id, settlement_id, merchant_id, livemode, currency
    HAVING bit_or(1 << line) <> (2 << count(*)::int) - 2 OR sum(amount) <> 0
        OR coalesce(sum(amount) FILTER (WHERE account IN ('provider_hold', 'merchant_hold')), 0) <> 0
        OR coalesce(
            (SELECT (c.merchant_id, c.livemode, c.currency) FROM payments_charge c WHERE c.id = charge_id),
            (SELECT (o.merchant_id, o.livemode, o.currency) FROM payments_payout o WHERE o.id = payout_id)
        ) IS DISTINCT FROM (merchant_id, livemode, currency)
        OR settlement_id IS DISTINCT FROM (SELECT s.id FROM payments_settlement s WHERE s.id = settlement_id)
    LIMIT 1;
    IF FOUND THEN
        RAISE 'journal % does not balance, is not numbered from 1, or is not about one charge or payout', broken
        USING ERRCODE = 'integrity_constraint_violation';
    END IF;

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

    IF EXISTS (SELECT FROM posted WHERE account = 'merchant_payable') THEN
        INSERT INTO payments_payoutpart (id, merchant_id, livemode, currency, is_settlement, amount, payable_at)
        SELECT id, merchant_id, livemode, currency, false, -amount, created_at
        FROM posted WHERE account = 'merchant_payable' AND kind NOT IN ('settle', 'payout', 'reserve');

        SELECT settlement_id INTO broken FROM posted LEFT JOIN LATERAL (
            SELECT id FROM payments_payoutpart WHERE id = settlement_id AND payout_id IS NULL FOR SHARE
        ) unpaid ON true
        WHERE account = 'merchant_payable' AND kind = 'settle' AND unpaid.id IS NULL;
        IF FOUND THEN
            RAISE 'settlement % was paid out', broken USING ERRCODE = 'integrity_constraint_violation';
        END IF;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER payments_posting_is_posted AFTER INSERT ON payments_posting
REFERENCING NEW TABLE AS posted FOR EACH STATEMENT EXECUTE FUNCTION payments_post();

CREATE TRIGGER payments_posting_is_immutable BEFORE UPDATE OR DELETE ON payments_posting
FOR EACH ROW EXECUTE FUNCTION payments_refuse_change();
CREATE TRIGGER payments_settlement_is_immutable BEFORE UPDATE OR DELETE ON payments_settlement
FOR EACH ROW EXECUTE FUNCTION payments_refuse_change();
CREATE TRIGGER payments_charge_stays BEFORE DELETE ON payments_charge
FOR EACH ROW EXECUTE FUNCTION payments_refuse_change();
CREATE TRIGGER payments_payout_stays BEFORE DELETE ON payments_payout
FOR EACH ROW EXECUTE FUNCTION payments_refuse_change();
REVOKE UPDATE, DELETE ON payments_posting FROM CURRENT_USER;
