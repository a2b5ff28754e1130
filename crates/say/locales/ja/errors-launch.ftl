launch-trace-magic = 起動トレースではありません。先頭が "WKTRACE1" ではありません
launch-trace-short = トレースは { $len } バイトで、ヘッダーの長さに足りません
launch-bad-filter = `{ $text }` はカーネルの名前でも、正しい正規表現でもありません: { $why }
launch-table-error = カーネルの表がバイト { $at }（{ $field }）で壊れています。削除すれば作り直されます
