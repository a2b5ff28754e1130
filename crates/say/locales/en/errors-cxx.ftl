cxx-conflict = { $path }:{ $line }: merge-conflict marker; resolve the conflict first
cxx-too-many-files = the program needs more than { $most } source files, which is the limit
cxx-no-file = { $path }: no such file
