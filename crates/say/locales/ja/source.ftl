# source
source-preset = { $vendor } ビルド({ $preset }): { $defines }
source-open-define = { $name } が定義されるかどうかはビルドファイルからは分からず、答えが変わるため、該当する行は UNDETERMINED です。-D { $name } または -U { $name } で決めてください。
source-open-version = { $name } の値が指定されておらず、答えが変わるため、該当する行は UNDETERMINED です。-D { $name }=値 で指定してください。
source-assumed = 指定がないため仮定した値: { $list }。-D 名前=値 で変えられます。これで答えが変わる行は UNDETERMINED です。
source-assumed-fixed = 指定がないため仮定した値: { $list }。ほかの値はここでは試していません。`source` は 64 行以下ならほかの値も試します。値は -D 名前=値 で指定できます。
source-assumed-architectures = 仮定: CUDA ビルドには GPU 自身のアーキテクチャのコードが含まれます。実際の対象は -D __CUDA_ARCH_LIST__=500,610,... で指定してください。
source-environment = 途中で参照された環境変数: { $list }。--env 名前=値 で設定できます。
source-env-unset = { $name }(未設定)
source-skipped = 対象外: { $what }
source-skipped-more = 対象外: ほか { $count } 件
source-column-gpu = GPU
source-column-type = 型
source-column-operation = 演算
source-column-columns = 列数
source-column-path = 経路
source-column-variant = タイル
source-column-kernel = カーネル
source-why = { $what } 列での理由:
source-narrow = 条件をここに表示するには GPU、型、列数を絞ってください。--format json にはすべて含まれます。
source-bypass = 融合された演算はこの選択を通りません: { $function } が { $calls }({ $path })を { $at } で直接呼び出します。
source-bypass-switch = 環境変数 { $name } で無効にできます。
source-cannot-show = これは、このビルドについてソースが宣言していること(Declared)です。そのカーネルがバイナリに含まれ、読み込まれ、実行されたことを示すものではありません。
source-recorded = { $count } 件の規則を記録しました(Declared)。
source-pin-taken = { $tree } は、Ollama のツリーが指定する { $pin } の時点で読みます。
source-pin-other = Ollama のツリーが指定する llama.cpp は { $pin } ですが、渡された { $tree } を読みます。
source-vulkan-card = { $given }: この名前の Vulkan 用カードプロファイルはありません。あるもの: { $known }
source-vulkan-env = { $name }: この変数が Vulkan バックエンドの規則に与える影響は評価していません。評価できるもの: { $known }
source-graph-one-gpu = --graph は GPU を 1 つだけ対象とします。--gpu で指定してください
source-graph-nodes = ノード: llama 系モデル用に本プログラムが、llama.cpp(2026 年)のビルダーと同じ順序で並べたものです(1 シーケンス、flash attention、全層を GPU、トークン埋め込みはホスト)。各ノードが何を起動するかは、ツリー自身のコードが決めます。
source-graph-nodes-written = ノード: ファイルの行の順です。各ノードが何を起動するかは、ツリー自身のコードが決めます。
source-graph-has-its-size = 書き出された計算グラフの大きさは決まっています。--columns と --kv はモデル用です
source-graph-memory = メモリ: 各テンソルが専用のメモリを持つと仮定しています。ggml のアロケータはメモリを共有するため、融合されないノードがあり得ます。
source-code-amd = --code は AMD の GPU 用です。CUDA がレジスタから計算する値は扱いません
source-code-none = { $file }: { $target } 用のコードがありません。含まれるのは { $has } です
source-graph-nodes-computed = ノード: プログラムがスタンドイン GPU 上で ggml に計算させたものを、実行中に書き出したものです。各ノードが何を起動するかは、ツリー自身のコードが決めます。
source-graph-memory-placed = メモリ: プログラムがテンソルを配置した場所です。
source-graph-routing-read = ルーティング: これらのグラフの計算中にプログラムが GPU から読み戻したとおりです。
source-graph-routing-even = ルーティング: 指定に従い、各トークンは次のエキスパートを順番に使うものとしています。
source-graph-routing-first = ルーティング: 指定に従い、すべてのトークンが最初のエキスパートを使うものとしています。
source-graph-evaluation-computed = { $target }、{ $backend } 上: ノード { $nodes } 個、判明した起動 { $launches } 回
source-graph-cut = ファイルのグラフのうち { $count } 個は、途中でプログラムが終わったため末尾がなく、除外しました
source-graph-more = プログラムは、書き出された { $count } 個より多くのグラフを計算しました
source-graph-not-compared = トレースの起動のうち { $count } 件はこれらの評価のどれにも入らず、比較していません
source-graph-evaluation = { $target }、{ $columns } 列、KV キャッシュ { $positions } 位置: ノード { $nodes } 個、判明した起動 { $launches } 回
source-graph-evaluation-written = { $target }: ノード { $nodes } 個、判明した起動 { $launches } 回
source-graph-column-node = ノード
source-graph-column-name = 名前
source-graph-column-operations = 演算
source-graph-column-grid = グリッド
source-graph-column-block = ブロック
source-graph-compared = 観測された起動 { $seen } 回（評価 { $evaluations } 回）のうち、カーネル・グリッド・ブロックまで予測どおり { $exact } 回、カーネルは予測どおりでテンプレート引数の一部が未定 { $arguments } 回、カーネルは予測どおりでグリッドは未定 { $without } 回、予測どおりだがドライバーが拒否 { $refused } 回、予測されたがトレースに欠けている可能性あり { $missing } 回、予測なし { $open } 回、予測と異なる { $different } 回。
