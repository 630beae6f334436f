"""`python -m repolake`: the command line."""

from repolake.cli import main

main()
