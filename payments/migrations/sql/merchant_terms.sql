-- No charge or source in the making finds a rate that is no rate, or a switch that is no switch.
ALTER TABLE payments_merchant
ADD CONSTRAINT merchant_rates_are_rates CHECK (
    jsonb_typeof(rates) = 'object'
    AND NOT jsonb_path_exists(rates, 'strict $.* ? (@.type() != "object")', '{}', true)
    AND NOT jsonb_path_exists(rates, 'strict $.*.* ? (
        (@.basis_points >= 0 && @.basis_points <= 10000 && @.basis_points.floor() == @.basis_points
            && @.fixed >= 0 && @.fixed <= 99999999999 && @.fixed.floor() == @.fixed) is unknown
        || !(@.basis_points >= 0 && @.basis_points <= 10000 && @.basis_points.floor() == @.basis_points
            && @.fixed >= 0 && @.fixed <= 99999999999 && @.fixed.floor() == @.fixed))', '{}', true)),
ADD CONSTRAINT merchant_payment_methods_are_switches CHECK (
    jsonb_typeof(payment_method_settings) = 'object'
    AND NOT jsonb_path_exists(payment_method_settings, 'strict $.* ? (
        (@.enabled.type() == "boolean") is unknown || @.enabled.type() != "boolean")', '{}', true)),
ADD CONSTRAINT merchant_payment_methods_switch_modes CHECK (
    NOT jsonb_path_exists(payment_method_settings, '$.*.test ? (@.type() != "boolean")', '{}', true)
    AND NOT jsonb_path_exists(payment_method_settings, '$.*.live ? (@.type() != "boolean")', '{}', true));

-- Rows of a merchant that are written with each charge have no foreign key to it: all of them would lock its row. Their
-- merchant is that of an API key or a source, which have one, and it stays.
CREATE TRIGGER payments_merchant_stays BEFORE DELETE ON payments_merchant
FOR EACH ROW EXECUTE FUNCTION payments_refuse_change();
