# source
