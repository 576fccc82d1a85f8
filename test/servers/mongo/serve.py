"""SecantusDB's server, with what of it would keep the specs from seeing what MongoDB does set right."""

import sys

import secantus.storage as storage
import secantus.transactions as transactions
from secantus.cli import main

# At each write it looks through and sorts all its records of retryable writes: with its own 10,000 that is most of the cost.
transactions._RETRYABLE_RECORD_MAX = 256

scan_range = storage.Storage._range_scan_index
# Above whatever an index entry may hold behind a value.
above_all = storage.COMPOUND_SEP + b"\xff" * 16


def scan_range_with_its_end(self, db, coll, name, lower, lower_inclusive, upper, upper_inclusive, *, prefix=None):
    """`$lte` behind an equality, by an index with more fields behind it: it leaves out what equals the bound. Too many are
    no harm, for each document is held against the filter once more."""
    if prefix is not None and upper is not None and upper_inclusive:
        upper += above_all
    return scan_range(self, db, coll, name, lower, lower_inclusive, upper, upper_inclusive, prefix=prefix)


storage.Storage._range_scan_index = scan_range_with_its_end

sys.exit(main())
