# ツリー
source-tree-missing = { $path }: そのようなファイルやディレクトリはありません。ディレクトリ、REPO@REV、または .crate、.tar.gz、.zip のアーカイブを指定してください
source-tree-no-repository = { $repo }: git リポジトリではありません（.git も bare リポジトリも見つかりません）
source-tree-no-revision = { $repo }: リビジョン { $rev } はありません{ $hint }: { $said }
source-tree-shallow = （shallow クローンです）
source-tree-no-git = git を実行できません: { $error }。git をインストールするか、チェックアウト済みのディレクトリを指定してください
source-tree-git = { $repo } で git { $what } に失敗しました: { $said }
source-tree-content-missing = { $path }: 内容がこのクローンにありません（shallow または partial）。取得するか、完全なクローンを使ってください
source-tree-file-too-large = { $path } は { $size } バイトで、ソースファイル 1 個の上限 { $limit } を超えています
source-tree-too-large = { $path } のソースは { $limit } を超えています。ggml を含むディレクトリを指定してください
source-tree-archive = { $path } は対応しているアーカイブではありません（「{ $what }」）。対応しているのは .crate、.tar.gz、.tar、.zip です
source-tree-archive-damaged = { $path }: アーカイブが、{ $members } 個目のメンバーより後で途切れているか、壊れています（{ $what }）。取得し直してください
source-archive-name = メンバーの名前が { $most } バイトを超えています
source-git-silent = メッセージなし
source-git-unknown = 未知の名前またはコミット
source-git-no-pipes = パイプを開けませんでした
source-git-ended = 途中で終了しました
source-git-more = 要求した数より多くのコミットが返されました
source-git-fewer = 要求した数より少ないコミットしか返されませんでした
source-limit-files = 40 万ファイル
source-limit-sources = 1 GiB または 40 万ファイル

# 規則とデバイス
source-no-dispatcher = { $tree } に ggml のディスパッチャーがありません（{ $op } の case を含む .cu ファイルがありません）。llama.cpp、ggml、whisper.cpp、Ollama のツリーのルートを指定してください{ $hint }
source-no-sources = （このツリーにはソースが 1 つもありません）
source-unit-unread = 。次のファイルを読めませんでした: { $error }
source-no-vulkan = { $tree } に Vulkan バックエンドがありません（ggml-vulkan.cpp が含まれていません）
source-no-metal = { $tree } には読み取れる Metal バックエンドがありません。ggml-metal.cpp が含まれていません。b6501（2025 年 9 月 17 日）より前のツリーではバックエンド全体が ggml-metal.m にあり、これは読み取りの対象外です
source-dispatcher-unreadable = { $place }: { $why }。ディスパッチャーを読めません
source-device-apple = { $name } は Apple の GPU です。規則は Metal バックエンドのもので、評価できるのは `source TREE --gpu { $name }` と `diff TREE TREE --gpu { $name }` だけです
source-device-unknown = { $name } は既知の GPU ではありません。ターゲット（gfx1201、sm_90）かカード（rx-9070-xt、mi300x）を指定してください

# ビルドとプログラムに与えるもの
source-input-unread = { $tree }: ビルドファイルを最後まで読めなかったため、バックエンドの define が分かりません（{ $why }）
source-input-option = --cmake { $name }: { $tree } のどの CMake ファイルにもこのオプションはありません{ $near }
source-input-no-cmake = --cmake { $name }: { $tree } はここでは CMake でビルドされません（プリセット { $preset }）。-D で define を直接指定してください
source-input-variable = --env { $name }: { $tree } にこの環境変数を読むソースはありません{ $near }
source-input-near = 。{ $best } のことですか

# ビルドファイルの読み取りが止まった場所
source-cmake-steps = { $file } のコマンドが { $most } 個を超えています
source-cmake-depth = { $file } の呼び出しの深さが { $most } 段を超えています
source-cmake-values = { $file }: { $one } バイトを超える値があるか、値の合計が { $all } バイトを超えています
source-cmake-loop = { $file }: 値が { $most } 個を超えるループがあります
source-cmake-files = { $file }: define を持つファイルが { $most } 個を超えています
source-cmake-defines = { $file }: define が { $most } 個を超えています

# 履歴とアトラス
source-history-nothing = { $since } と { $until } の間に GPU バックエンドを変更するコミットがないため、表示する履歴はありません
source-history-no-ancestor = { $since } は、本線上で { $until } の祖先ではありません。履歴は、最初の親だけをたどる本線に沿って、祖先から子孫へ進みます。古い方のリビジョンを --since に指定してください。どちらも他方の祖先でない 2 つのリビジョンは `diff` で比較できます
source-atlas-not-ours = { $folder } にアトラス以外のファイルがあります。空のフォルダーか新しいフォルダーを指定してください
source-atlas-other-question = { $folder }/state.json は、別のオプションまたは別のバージョンで書き出されたものです。別のフォルダーを指定するか、このフォルダーを削除してください
source-atlas-no-release = { $repo } に読めるリリースがありません（b6000 のようなタグがありません）{ $since }
source-atlas-since = （{ $since } 以降）

# モデルの計算グラフ
source-graph-architecture = アーキテクチャ `{ $name }` の計算グラフには対応していません。対応しているもの: { $known }
source-graph-no-program = ツリーに src/llama-model.cpp がないため、このアーキテクチャの計算グラフはわかりません。`whichkernel dryrun --write-graph FILE -- PROGRAM` でグラフを記録してください
source-graph-unreadable = ツリーのプログラムを読めませんでした: { $why }
source-graph-not-followed = ツリーのプログラムを { $at } で追跡できませんでした: { $what }。`whichkernel dryrun --write-graph FILE -- PROGRAM` でグラフを記録してください
source-graph-ended = ツリーのプログラムは { $at } でこのモデルを拒否します: { $code }
source-graph-unclaimed = モデルのテンソルのうち { $count } 個（{ $first } など）を、ツリーのプログラムは使いません
source-graph-missing = 計算グラフに必要な { $what } がモデルにありません
source-graph-experts = モデルは同時に { $used } 個のエキスパートを使うとしていますが、エキスパートの数は { $count } です
source-graph-dimensions = テンソル { $name } の次元 { $dims } は、この系列のどの計算グラフにもありません
source-graph-too-large = { $what } がモデルの値としては大きすぎます
source-graph-sizes = モデルの次元が 0 であるか、大きすぎます
source-trace-no-evaluation = { $trace }: { $columns } 列の評価が含まれていません
source-trace-too-many = { $trace }: { $count } 回の起動は多すぎて比較できません

# ファイルの計算グラフ
source-written-line = { $line } 行目はテンソルではありません（NAME = [OPERATION] TYPE SIZES ...）: { $what }
source-written-outside = { $line } 行目はどのグラフにも属していません: { $what }
source-written-unknown = { $line } 行目の { $name } は、それより上の行で定義されていません
source-written-too-large = { $line } 行目: この大きさのテンソルはどのメモリにも収まりません
source-written-too-many = { $line } 行目: テンソルの入力またはパラメーターが ggml の上限を超えています
source-written-mixed = { $line } 行目: アドレスのある行とない行が混在しています
source-written-read = { $line } 行目の、読み戻したデータ（ADDRESS BYTES WORDS）が不足しています: { $address } から { $length } バイト
source-written-empty = グラフに計算するものがありません
source-written-split = { $line } 行目: 複数の GPU に分割されたテンソルには対応していません
source-written-refused = プログラムがグラフを書き出せませんでした: { $why }

# vulkaninfo が記述するカード
source-reported-too-large = vulkaninfo の出力としては大きすぎるファイルです
source-reported-not-json = JSON ではありません: { $why }
source-reported-lacks = `vulkaninfo --json` の出力ではありません。{ $field } がありません
source-reported-vendor = { $name } のベンダーは { $vendor } です。対応しているのは AMD のカード（0x1002）だけです
source-reported-driver = { $name } のドライバーは { $driver } です。対応する行列のサイズが分かるのは RADV だけです
source-reported-not-played = { $name } は Mesa の模擬ドライバーが対応しているカードではないため、ドライランはできません。規則の評価はできます: `source TREE --backend vulkan --vulkan-device FILE`
source-reported-properties = { $name } の報告内容（{ $what }）が、ここで使うドライバーでの { $card } と異なるため、ドライランでは別のカードの結果になります。規則の評価はできます: `source TREE --backend vulkan --vulkan-device FILE`
source-property-integer-dot = 整数の内積
source-property-halves = 半精度
source-property-half-dot = 半精度の内積
source-property-matrices = 協調行列（cooperative matrix）
source-property-bf16-matrices = bfloat16 の協調行列
source-property-subgroup = サブグループのサイズ
source-property-shared-memory = 共有メモリ
source-property-without = { $what }なし
source-property-of = { $what } { $own }
source-property-list = { $list }、{ $next }
source-archive-large = 展開後のサイズが { $most } GiB を超えています
source-skipped-broken-link = リンク切れ
source-skipped-deep = ディレクトリの深さが { $most } 段を超過
source-skipped-large = 1 ファイルの上限 { $most } バイトを超過
source-skipped-linked = ディレクトリへのリンク（たどらない）
source-skipped-outside = アーカイブの外を指す名前
source-skipped-size = { $bytes } バイト（1 ファイルの上限は { $most } バイト）
source-skipped-special = 通常のファイルではない
source-skipped-utf8 = 名前が UTF-8 ではない
source-skipped-left-out = 除外: ソースの合計が一度に読める量を超えるため、大きいファイルから除外
source-skipped-not-followed = { $bytes } バイトあり、大きすぎて include をたどれない
source-no-archives = このビルドはアーカイブを読めません。先に展開してください

# 行が UNDETERMINED になる理由
source-open-place = { $place } { $why }
source-open-code = { $why }: `{ $code }`
source-open-either = { $why }（{ $either }）
source-open-absent = インクルードされる { $file } がツリーにありません。{ $why }
source-open-absent-more = インクルードされる { $file } とほか { $count } 個のファイルがツリーにありません。{ $why }
source-open-abort = プログラムはここで異常終了します: `{ $what }`
source-open-not-defined = { $name } の定義がツリーにありません
source-open-no-launch = 評価しても起動に到達しませんでした
source-open-tile-width = タイルの幅が不明です
source-open-other-device = { $function } はデバイス { $device } を返しますが、評価の対象はデバイス 0 です
source-open-missing = ツリーに { $what } がありません
source-open-no-block = ツリーに { $name } のブロックサイズがありません
source-open-block = 存在しないテンソルです。行の値の数 { $values } が { $name } のブロックサイズ { $block } の倍数ではありません
source-open-not-compiled = ビルドはこのファイルをコンパイルしません
source-open-no-target = このファイルを含むビルドターゲットがありません
source-open-needed = { $name } が必要ですが、ビルドはこのファイルをコンパイルしません
source-open-compiled = ビルドがこのファイルをコンパイルするかどうか不明です。{ $at } に依存します
source-open-supports = 演算の可否を判定する関数を解釈できません
source-open-refused = { $name } がこの演算を拒否するため、バックエンドには渡されません
source-open-accepts = この演算に対する { $name } の結果が不明です
source-open-one-define = { $name } が定義されるかどうかを示すビルドファイルがなく、結果はこれに依存します
source-open-several-defines = { $names } が定義されるかどうかを示すビルドファイルがなく、結果はこれらに依存します
source-open-version-value = { $name } の値が不明です（-D { $name }=VALUE で指定できます）。仮定した { $value } と { $other } とでは結果が異なります
source-open-call = この呼び出しは追跡していません
source-open-occupancy = マルチプロセッサで同時に実行できるカーネルのブロック数（1〜{ $most }）はレジスタ数に依存します
source-open-occupancy-code = マルチプロセッサで同時に実行できるカーネルのブロック数（1〜{ $most }）はレジスタ数に依存しますが、指定されたコードにこのカーネルがありません
source-open-fused-count = 融合されるノードの数が不明です
source-open-fused-inline = ループ内でノードを直接融合するコードには対応していません
source-open-not-dispatched = ディスパッチャーはこの演算を受け付けません
source-open-dispatched = ディスパッチャーがこの演算を受け付けるかどうか不明です
source-open-unmarked = { $flag } のないノードの扱いを解釈できません
source-open-read-back = プログラムがここで読み戻したデータを、それ以前のデータと区別できません
source-open-hook = テンソルを準備するコードを解釈できません
source-open-hook-writes = { $name } は、計算前のテンソルを変更する可能性があります
source-open-reordered = { $name } は、計算前のノードを変更する可能性があります
source-open-compute = グラフを計算するコードを解釈できません
source-open-way = { $top } から { $dispatcher } までの呼び出しを解釈できません
source-open-loop = { $function }: { $what }
source-open-loop-works = 解釈できないコードがあります
source-open-loop-call = ディスパッチャーの呼び出し方を解釈できません
source-open-loop-statement = 解釈できない文があります
source-open-loop-goes-on = ノードを計算せずに先へ進む可能性があります
source-open-loop-skips = ノードを飛ばす可能性があります
source-open-loop-condition = ノードを計算する条件を解釈できません
source-open-loop-fused = 融合されたノードの後の処理の流れを解釈できません
source-open-loop-twice = 同じノードを複数回計算します
source-open-loop-way = ノードの計算方法を解釈できません
source-open-vulkan-query = ドライバーの応答が不明です
source-open-backend-bound = ディスパッチされるパイプラインが不明です
source-open-backend-define = { $name } が定義されるかどうかは、ビルドファイルからは決まりません
source-open-backend-none = バックエンドはこの行列積のパイプラインをディスパッチしません
source-open-backend-step = 評価できる { $what } がバックエンドにありません
source-open-backend-unsupported = バックエンドはこのカードでこの演算に対応していないため、別のバックエンドが計算します
source-open-backend-aborts = バックエンドはここでプログラムを停止します: { $code }
source-open-metal-property = 答えが { $property } に依存しますが、このカードでの値は不明です
source-shape-part = { $part }: { $why }
