-- Each part of a merchant's balance is paid out once: a settlement when its day is over, any other posting at once.
CREATE FUNCTION payments_add_settlement_to_payouts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payments_payoutpart (id, merchant_id, livemode, currency, is_settlement, payable_at)
    VALUES (NEW.id, NEW.merchant_id, NEW.livemode, NEW.currency, true, (NEW.day + 1)::timestamp AT TIME ZONE 'UTC');
    RETURN NULL;
END $$;
CREATE TRIGGER payments_settlement_adds_to_payouts AFTER INSERT ON payments_settlement
FOR EACH ROW EXECUTE FUNCTION payments_add_settlement_to_payouts();

CREATE FUNCTION payments_add_posting_to_payouts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payments_payoutpart (id, merchant_id, livemode, currency, is_settlement, amount, payable_at)
    VALUES (NEW.id, NEW.merchant_id, NEW.livemode, NEW.currency, false, -NEW.amount, NEW.created_at);
    RETURN NULL;
END $$;
CREATE TRIGGER payments_posting_adds_to_payouts AFTER INSERT ON payments_posting
FOR EACH ROW WHEN (NEW.account = 'merchant_payable' AND NEW.kind NOT IN ('settle', 'payout', 'reserve'))
EXECUTE FUNCTION payments_add_posting_to_payouts();

-- A settlement that was paid out takes no more postings, and a payout waits for those that are being written.
CREATE FUNCTION payments_settlement_must_be_unpaid() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM payments_payoutpart WHERE id = NEW.settlement_id AND payout_id IS NULL FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'settlement % was paid out', NEW.settlement_id USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER payments_posting_is_before_payout AFTER INSERT ON payments_posting
FOR EACH ROW WHEN (NEW.account = 'merchant_payable' AND NEW.kind = 'settle')
EXECUTE FUNCTION payments_settlement_must_be_unpaid();

-- What a payout took stays with it.
CREATE FUNCTION payments_payout_part_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'part % of a payout was taken', OLD.id USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER payments_payout_part_is_final BEFORE UPDATE OR DELETE ON payments_payoutpart
FOR EACH ROW WHEN (OLD.payout_id IS NOT NULL) EXECUTE FUNCTION payments_payout_part_is_final();
