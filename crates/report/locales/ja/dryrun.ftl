# dryrun
