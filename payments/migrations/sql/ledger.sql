-- Postings balance at commit, and neither they nor settlements are ever changed.
CREATE FUNCTION payments_journal_must_balance() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    money numeric;
    memo numeric;
    alike boolean;
BEGIN
    SELECT coalesce(sum(amount) FILTER (WHERE account NOT IN ('provider_hold', 'merchant_hold')), 0),
        coalesce(sum(amount) FILTER (WHERE account IN ('provider_hold', 'merchant_hold')), 0),
        bool_and((coalesce(charge_id, payout_id), merchant_id, livemode, currency)
            = (coalesce(NEW.charge_id, NEW.payout_id), NEW.merchant_id, NEW.livemode, NEW.currency))
    INTO money, memo, alike FROM payments_posting WHERE journal = NEW.journal;
    IF money <> 0 OR memo <> 0 OR NOT alike THEN
        RAISE EXCEPTION 'journal % does not balance', NEW.journal USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER payments_posting_balances AFTER INSERT ON payments_posting
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION payments_journal_must_balance();

CREATE TRIGGER payments_posting_is_immutable BEFORE UPDATE OR DELETE ON payments_posting
FOR EACH ROW EXECUTE FUNCTION payments_refuse_change();
CREATE TRIGGER payments_settlement_is_immutable BEFORE UPDATE OR DELETE ON payments_settlement
FOR EACH ROW EXECUTE FUNCTION payments_refuse_change();
REVOKE UPDATE, DELETE ON payments_posting FROM CURRENT_USER;
