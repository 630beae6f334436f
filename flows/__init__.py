"""Prefect flows of repolake: the only importer of prefect."""
