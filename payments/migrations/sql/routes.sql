-- A charge is never sent to a test account, and an account that changed its merchant, mode or provider would take its
-- routes and attempts along.
CREATE FUNCTION payments_route_must_be_live() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM payments_provideraccount a WHERE a.id = NEW.account_id AND a.livemode) THEN
        RAISE EXCEPTION 'a route leads to an account of live mode'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'route_is_of_a_live_account';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER payments_route_is_live BEFORE INSERT OR UPDATE OF account_id ON payments_route
FOR EACH ROW EXECUTE FUNCTION payments_route_must_be_live();

CREATE TRIGGER payments_provideraccount_stays_whose_it_is
BEFORE UPDATE OF merchant_id, livemode, provider ON payments_provideraccount FOR EACH ROW
WHEN ((OLD.merchant_id, OLD.livemode, OLD.provider) IS DISTINCT FROM (NEW.merchant_id, NEW.livemode, NEW.provider))
EXECUTE FUNCTION payments_refuse_change();
