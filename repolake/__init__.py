"""repolake: a nightly ETL that turns git repositories into a code lake."""
