launch-trace-magic = 起動の記録ではありません。先頭が "WKTRACE1" ではありません
launch-trace-short = 記録は { $len } バイトで、ヘッダーより短いです
launch-bad-filter = `{ $text }` はカーネルの名前でも、使える正規表現でもありません: { $why }
launch-table-error = カーネルの表がバイト { $at }（{ $field }）で壊れています。削除すれば作り直されます
