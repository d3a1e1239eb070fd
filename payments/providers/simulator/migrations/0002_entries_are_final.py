from django.db import migrations

FORBID = """
CREATE FUNCTION simulator_entries_are_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an entry of the simulator''s book is never changed or removed'
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER simulator_entries_are_final BEFORE UPDATE OR DELETE ON simulator_entry
    FOR EACH ROW EXECUTE FUNCTION simulator_entries_are_final();
"""
ALLOW = """
DROP TRIGGER simulator_entries_are_final ON simulator_entry;
DROP FUNCTION simulator_entries_are_final();
"""


class Migration(migrations.Migration):
    dependencies = [("simulator", "0001_initial")]
    operations = [migrations.RunSQL(FORBID, ALLOW)]
