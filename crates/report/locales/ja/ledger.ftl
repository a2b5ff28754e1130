# ledger
