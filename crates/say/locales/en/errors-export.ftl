export-empty = the ledger in { $path } is empty: there is nothing to export
export-full = { $path }: the disk is full; what is there of the lake is as it was
export-forks = the lake holds { $most } different ledgers with the id { $ledger } of this machine: remove those that are not needed
export-parquet-magic = no Parquet file: it does not begin and end with "PAR1"
export-parquet-footer = its footer cannot be read
export-parquet-foreign = column '{ $column }': { $what }; only a file as whichkernel exported it can be proved
export-parquet-page = column '{ $column }', row group { $group }: the page is damaged
export-unknown = no launch trace: neither a record of the dry run or the preload, nor the lines of `watch --trace`
