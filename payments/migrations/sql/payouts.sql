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

-- A payout or a bank file goes out by one request about it that was done: by two people, but for a payout that nobody
-- had asked for. This is looked at when the transaction ends, in which the request is done.
CREATE FUNCTION payments_goes_out_by_its_request() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    going jsonb := to_jsonb(NEW);
BEGIN
    PERFORM FROM payments_approvalrequest r
    WHERE r.subject_id = NEW.id AND r.kind IN ('pay_out', 'send_file')
    AND r.id = coalesce((going->>'approval_id')::uuid, r.id)
    AND r.merchant_id IS NOT DISTINCT FROM (going->>'merchant_id')::uuid
    AND (r.kind, r.state, r.amount, r.currency)
        = (TG_ARGV[0], 'done', (going->>TG_ARGV[1])::bigint, NEW.currency)
    AND (r.decided_by_id IS NOT NULL OR r.kind = 'pay_out' AND going->>'requested_by_id' IS NULL)
    -- Who made a bank file does not approve it, also where another person asked.
    AND NOT coalesce(r.decided_by_id = (going->>'created_by_id')::bigint, false);
    IF NOT FOUND THEN
        RAISE EXCEPTION '% of % is approved by no request about it', TG_ARGV[0], NEW.id
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER payments_payout_goes_out_by_its_request
AFTER INSERT OR UPDATE OF approval_id, amount, currency, requested_by_id ON payments_payout
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.approval_id IS NOT NULL)
EXECUTE FUNCTION payments_goes_out_by_its_request('pay_out', 'amount');
CREATE CONSTRAINT TRIGGER payments_bank_file_goes_out_by_its_request
AFTER INSERT OR UPDATE OF sent_at, total, currency ON payments_payoutfile
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.sent_at IS NOT NULL)
EXECUTE FUNCTION payments_goes_out_by_its_request('send_file', 'total');
