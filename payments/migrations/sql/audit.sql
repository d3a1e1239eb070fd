-- An entry is written without a place in the chain. The commit links it: gives it the number after the head's, and the
-- hash of the head's and its own, and moves the head to it. So the head is locked by commits alone, however long a
-- transaction takes, and an entry is committed with its act.
CREATE FUNCTION payments_link_audit_entry() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    head payments_audithead;
BEGIN
    IF TG_OP = 'INSERT' THEN
        -- To be linked in the next round of deferred triggers, for foreign keys in this one may wait for others' locks.
        UPDATE payments_auditentry SET previous_hash = NULL WHERE id = NEW.id;
        RETURN NULL;
    END IF;
    INSERT INTO payments_audithead (id, number, hash) VALUES (1, 1, decode(repeat('00', 32), 'hex'))
    ON CONFLICT (id) DO UPDATE SET number = payments_audithead.number + 1 RETURNING * INTO head;
    UPDATE payments_auditentry SET number = head.number, previous_hash = head.hash,
        hash = sha256(head.hash || int8send(head.number) || NEW.hash)
    WHERE id = NEW.id RETURNING hash INTO head.hash;
    UPDATE payments_audithead SET hash = head.hash WHERE id = 1;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER payments_auditentry_is_linked AFTER INSERT OR UPDATE ON payments_auditentry
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.number IS NULL) EXECUTE FUNCTION payments_link_audit_entry();

-- The chain grows and the head moves in no other way.
CREATE TRIGGER payments_auditentry_is_added_unlinked BEFORE INSERT ON payments_auditentry
FOR EACH ROW WHEN (NEW.number IS NOT NULL OR NEW.previous_hash IS NOT NULL) EXECUTE FUNCTION payments_refuse_change();
CREATE TRIGGER payments_auditentry_is_immutable BEFORE UPDATE OR DELETE ON payments_auditentry
FOR EACH ROW WHEN (OLD.number IS NOT NULL OR pg_trigger_depth() = 0) EXECUTE FUNCTION payments_refuse_change();
CREATE TRIGGER payments_audithead_moves_with_entries BEFORE INSERT OR UPDATE OR DELETE ON payments_audithead
FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION payments_refuse_change();
REVOKE UPDATE, DELETE, TRUNCATE ON payments_auditentry FROM CURRENT_USER;
GRANT UPDATE (number, previous_hash, hash) ON payments_auditentry TO CURRENT_USER;
REVOKE DELETE, TRUNCATE ON payments_audithead FROM CURRENT_USER;
