-- An entry is taken only where it follows the head, which then moves to it and moves no other way.
CREATE FUNCTION payments_audit_entry_must_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE payments_audithead SET number = NEW.number, hash = NEW.hash
    WHERE number = NEW.number - 1 AND hash = NEW.previous_hash;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'audit entry % does not follow the head', NEW.number
        USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER payments_auditentry_follows BEFORE INSERT ON payments_auditentry
FOR EACH ROW EXECUTE FUNCTION payments_audit_entry_must_follow();

CREATE TRIGGER payments_auditentry_is_immutable BEFORE UPDATE OR DELETE ON payments_auditentry
FOR EACH ROW EXECUTE FUNCTION payments_refuse_change();
CREATE TRIGGER payments_audithead_moves_with_entries BEFORE UPDATE OR DELETE ON payments_audithead
FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION payments_refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON payments_auditentry FROM CURRENT_USER;
REVOKE DELETE, TRUNCATE ON payments_audithead FROM CURRENT_USER;
