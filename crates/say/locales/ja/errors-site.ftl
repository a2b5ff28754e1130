site-write-not-ours = { $path } には whichkernel のレポート以外のファイルがあります。空のフォルダーか新しいフォルダーを --out で指定してください
site-write-full = { $path }: ディスクの空き容量がありません。書き出したレポートは不完全です
