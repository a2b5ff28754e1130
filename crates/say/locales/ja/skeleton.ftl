# skeleton: 重みのないモデル
skeleton-written = { $file }: { $shape }、{ $layers } 層、{ $mix }({ $types })。読むとすべてゼロになる { $megabytes } MiB、ディスク上は { $kilobytes } KiB。これを使った計算結果に意味はありません。
skeleton-shape = 形
skeleton-architecture = アーキテクチャ
skeleton-layers = 層数
skeleton-width = 幅
skeleton-experts = エキスパート
skeleton-mixes = 混合: { $mixes }。または全行列に同じテンソル型(Q4_K、F16 など)。
skeleton-absent = 最終層にしかない、またはどの層にもないため、プロンプトの幅では計算されない行列: { $list }。--layers で層を増やすと含まれます。
