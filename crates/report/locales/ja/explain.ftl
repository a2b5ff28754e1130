# explain
explain-answer = { $gpu }、{ $type }、{ $columns } 列: { $kernel }（{ $version } の規則）
explain-stretch = { $from } 列から { $to } 列まで同じです。
explain-stretch-open = { $from } 列以上で同じです（表は { $most } 列まで）。
explain-build = ビルド: { $preset }、{ $commit }: { $defines }
explain-otherwise = 条件が違えば:
explain-columns = 列数
explain-gpu = GPU
explain-version = バージョン
explain-column-what = 条件
explain-column-instead = 代わりに
