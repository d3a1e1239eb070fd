-- A settlement is paid out when its day is over.
CREATE FUNCTION payments_add_settlement_to_payouts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payments_payoutpart (id, merchant_id, livemode, currency, is_settlement, payable_at)
    VALUES (NEW.id, NEW.merchant_id, NEW.livemode, NEW.currency, true, (NEW.day + 1)::timestamp AT TIME ZONE 'UTC');
    RETURN NULL;
END $$;
CREATE TRIGGER payments_settlement_adds_to_payouts AFTER INSERT ON payments_settlement
FOR EACH ROW EXECUTE FUNCTION payments_add_settlement_to_payouts();

-- What a payout took stays with it.
CREATE FUNCTION payments_payout_part_is_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'part % of a payout was taken', OLD.id USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER payments_payout_part_is_final BEFORE UPDATE OR DELETE ON payments_payoutpart
FOR EACH ROW WHEN (OLD.payout_id IS NOT NULL) EXECUTE FUNCTION payments_payout_part_is_final();
