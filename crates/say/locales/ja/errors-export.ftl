export-empty = { $path } の台帳は空です。書き出すものがありません
export-full = { $path }: ディスクが満杯です。レイクは元のままです
export-forks = このマシンの ID { $ledger } を持つ台帳がレイクに { $most } 個あります。不要なものを削除してください
export-parquet-magic = Parquet ファイルではありません。先頭と末尾が "PAR1" ではありません
export-parquet-footer = フッターを読めません
export-parquet-foreign = 列 '{ $column }': { $what }。証明できるのは whichkernel が書き出したままのファイルだけです
export-parquet-page = 列 '{ $column }'、行グループ { $group }: ページが壊れています
export-unknown = 起動の記録ではありません。ドライランやプリロードの記録でも、`watch --trace` の行でもありません
