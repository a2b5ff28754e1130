site-write-not-ours = { $path } contains other files and no whichkernel report; specify an empty or new folder with --out
site-write-full = { $path }: the disk is full; the report is incomplete
