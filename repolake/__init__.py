"""repolake: a nightly ETL that turns git repositories into a code lake."""

__version__ = "0.1.0"
