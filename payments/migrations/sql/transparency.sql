-- The log grows in no other way than at its end.
CREATE TRIGGER payments_logleaf_is_immutable BEFORE UPDATE OR DELETE ON payments_logleaf
FOR EACH ROW EXECUTE FUNCTION payments_refuse_change();
CREATE TRIGGER payments_lognode_is_immutable BEFORE UPDATE OR DELETE ON payments_lognode
FOR EACH ROW EXECUTE FUNCTION payments_refuse_change();
CREATE TRIGGER payments_loghead_is_immutable BEFORE UPDATE OR DELETE ON payments_loghead
FOR EACH ROW EXECUTE FUNCTION payments_refuse_change();
