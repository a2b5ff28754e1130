codeobject-truncated = オフセット { $offset } の { $field } には { $needed } バイト必要ですが、残りは { $left } バイトです
codeobject-trailing = オフセット { $offset } の { $field } の後に、さらに { $left } バイトあります
codeobject-unexpected = オフセット { $offset } の { $field } は { $found } です（期待値: { $expected }）
codeobject-not-a = オフセット { $offset } の { $field } は{ $kind }ではありません
codeobject-missing = オフセット { $offset } に { $field } がありません
codeobject-over-limit = オフセット { $offset } の { $field } は { $claimed } で、上限の { $limit } を超えています
codeobject-too-deep = オフセット { $offset } の { $field } の入れ子が { $limit } 段を超えています
codeobject-overlap = オフセット { $offset } の { $field } が、{ $end } で終わる直前のものと重なっています
codeobject-overflow = オフセット { $offset } の { $field } は、前のフィールドと合わせると 64 ビットに収まりません
codeobject-unmapped = { $field } のアドレス { $offset } はどのセグメントにもありません
codeobject-not-text = オフセット { $offset } の { $field } は UTF-8 のテキストではありません
codeobject-corrupt = オフセット { $offset } の { $field } を展開できません: { $why }
codeobject-hash = オフセット { $offset } の { $field } は { $stated } ですが、展開後のバイト列のハッシュは { $computed } です
codeobject-unreadable = オフセット { $offset } の { $field } を読めませんでした: { $why }
codeobject-unknown = オフセット { $offset } の { $field } は未知の値です: { $what }
codeobject-incomplete = オフセット { $offset } の { $field } は完全ではありません: { $why }
codeobject-other = オフセット { $offset } の { $field }: { $why }

# 値の種類
codeobject-map = マップ
codeobject-array = 配列
codeobject-text = 文字列
codeobject-number = 数値

# フィールドが取るべき値
codeobject-expected-zstd = 28 b5 2f fd
codeobject-expected-block = 種類 0、1、2 のいずれかのブロック
codeobject-expected-pe = 50 45 00 00
codeobject-expected-padding = ゼロのパディング
codeobject-expected-amdgpu = 224（AMDGPU）
codeobject-expected-ccob = 43 43 4f 42
codeobject-expected-ccob-version = 1、2、3 のいずれか
codeobject-expected-ccob-method = 0（zlib）または 1（zstd）
codeobject-expected-more-than-header = ヘッダーより大きい値
codeobject-expected-kpack = 4b 50 41 4b
codeobject-expected-kpack-version = 1
codeobject-expected-elf = 7f 45 4c 46
codeobject-expected-64-bit = 2（64 ビット）
codeobject-expected-little-endian = 1（リトルエンディアン）
codeobject-expected-record-size = 64 ビットのレコードのサイズ
codeobject-expected-msgpack = MessagePack の値
codeobject-expected-bundle = "__CLANG_OFFLOAD_BUNDLE__"
codeobject-expected-any-bundle = バンドルの先頭（"__CLANG_OFFLOAD_BUNDLE__" または "CCOB"）

# 未知の値
codeobject-processor = コードオブジェクト V{ $version } のプロセッサ { $number }
codeobject-header-of = { $name } のヘッダー
codeobject-ordinal = { $entry } の { $ordinal } 番

# 圧縮されたバイト列
codeobject-too-large = このマシンでは扱えない大きさです
codeobject-unpacked-size = 展開すると { $got } バイトになりますが、ヘッダーには { $stated } とあります
codeobject-stream-stalls = ストリームの展開が先に進みません
codeobject-stream-end = ストリームが、ヘッダーの示す位置で終わっていません
codeobject-no-ar = メンバーが別ファイルになっている thin archive か、アーカイブではないファイルです
codeobject-no-end-mark = 終端の印がありません

# 起動マップ
codeobject-image-machine = ホスト ELF ヘッダーの e_machine は { $machine } です。解読できるコンストラクターは x86-64 のものだけです
codeobject-call = { $site } の呼び出し: { $why }
codeobject-call-unreached = 追跡したコンストラクターのどれからも到達しません
codeobject-call-module = モジュールが、追跡できたファットバイナリの登録から得られたものではありません
codeobject-call-handle = ハンドルのアドレスが不明です
codeobject-call-name = カーネル名がこのファイルの文字列ではありません
codeobject-call-name-text = カーネル名が UTF-8 ではありません

# NVIDIA
codeobject-fatbin-bounds = オフセット { $offset } の fatbin の{ $field }: { $value } は残りの { $left } バイトに収まりません
codeobject-fatbin-header = オフセット { $offset } の fatbin のヘッダー長 { $value } は、固定部の { $minimum } バイトに足りません
codeobject-fatbin-limit = オフセット { $offset } の fatbin エントリ: 展開すると { $claimed } バイトになり、上限の { $limit } を超えます
codeobject-fatbin-unpack = オフセット { $offset } の fatbin エントリ、{ $method } のペイロード: { $why }
codeobject-fatbin-not-a-cubin = オフセット { $offset } の fatbin エントリ: cubin とされていますが、CUDA 用の ELF ファイルではありません
codeobject-fatbin-unreadable = オフセット { $offset } の fatbin コンテナ: { $error }
codeobject-fatbin-flags = フラグ { $flags } は既知の圧縮方式を示していません
codeobject-fatbin-claims = 圧縮された { $packed } バイトが、ヘッダーにある { $size } バイトに展開されることはありえません
codeobject-fatbin-container-header = コンテナのヘッダー
codeobject-fatbin-container-size = コンテナのサイズ
codeobject-fatbin-entry-header = エントリのヘッダー
codeobject-fatbin-payload = ペイロード
codeobject-fatbin-payload-size = ペイロードのサイズ
codeobject-fatbin-compressed-size = 圧縮後のサイズ
