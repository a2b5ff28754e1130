observe-several = { $file } には { $targets } 用のコードがあります。どれかを --target-a と --target-b で指定してください
observe-process-gone = プロセス { $pid } はありません
observe-process-refused = プロセス { $pid } ({ $name }) は別のユーザーのものなので /proc/{ $pid }/{ $what } を読めません。そのユーザーか root で実行してください
observe-process-io = /proc/{ $pid }/{ $what } を読めず: { $source }
observe-process-empty = プロセス { $pid } ({ $name }) がマップしているファイルはありません。カーネルスレッドか、終了したプロセスです
observe-shipped-refused = 観測したものを記録できません: { $value }
