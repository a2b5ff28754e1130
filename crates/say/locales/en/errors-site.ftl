site-write-not-ours = { $path }: this folder has files in it and no report of ours; name an empty or new one with --out
site-write-full = { $path }: the disk is full; what was written of the report is not whole
