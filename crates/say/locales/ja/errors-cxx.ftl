cxx-conflict = { $path }:{ $line }: マージ競合の印があります。先に競合を解消してください
cxx-too-many-files = 必要なソースファイルが上限の { $most } 個を超えています
cxx-no-file = { $path }: そのようなファイルはありません
