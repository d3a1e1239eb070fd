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

-- A payout goes out by one request about it that was done: by two people where somebody had asked for it. This is
-- looked at when the transaction ends, in which the request is done.
CREATE FUNCTION payments_payout_is_approved_by_its_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM payments_approvalrequest r
    WHERE r.id = NEW.approval_id AND r.merchant_id = NEW.merchant_id
    AND (r.kind, r.state, r.subject_id, r.amount, r.currency)
        = ('pay_out', 'done', NEW.id, NEW.amount, NEW.currency)
    AND (NEW.requested_by_id IS NULL OR r.decided_by_id IS NOT NULL);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'payout % is approved by no request about it', NEW.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER payments_payout_is_approved_by_its_request
AFTER INSERT OR UPDATE OF approval_id, amount, currency, requested_by_id ON payments_payout
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.approval_id IS NOT NULL)
EXECUTE FUNCTION payments_payout_is_approved_by_its_request();
