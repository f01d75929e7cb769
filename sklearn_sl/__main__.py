"""``python -m sklearn_sl``: the command line of the package."""

import sys

# Worker processes import this file again, so that all of it is behind the guard.
if __name__ == "__main__":
    try:
        from sklearn_sl._compare.cli import main

        status = main()
    except KeyboardInterrupt:  # during the imports, which take a second or two
        status = 130
        print("sklearn_sl: interrupted", file=sys.stderr)
    sys.exit(status)
