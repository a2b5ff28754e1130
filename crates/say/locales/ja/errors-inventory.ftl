inventory-not-a-file = { $path } は{ $what }で、任意の位置から読めるファイルではありません。先に通常のファイルへコピーしてください
inventory-too-long = { $path } の長さは { $bytes } バイトとなっています。読むのは { $most } バイトまでです
