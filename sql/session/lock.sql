-- From now on no statement of this session changes a setting.
set lock_configuration = true;
