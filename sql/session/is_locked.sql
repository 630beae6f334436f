-- Are the settings of this database locked already?
select current_setting('lock_configuration')::boolean as is_locked;
