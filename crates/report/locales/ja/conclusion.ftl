# 結論: 問い、回答、欠落、対象外から作られる (evidence::Conclusion)
conclusion-found = { $unit } { $answered } 件のうち { $count } 件を観測。
conclusion-found-with-gaps = { $unit } { $answered } 件のうち { $count } 件を観測。ほかにもある可能性: { $gaps }。
conclusion-nothing-whole = { $unit } { $answered } 件すべてを調べ、該当なし。
conclusion-nothing-answered = { $unit } { $answered } 件には該当なし。{ $gaps } については何も言えない。
conclusion-nothing-unknown = 不明: { $gaps }。
conclusion-same-whole = { $unit } { $answered } 件すべてで同じ。
conclusion-same-answered = 回答のあった { $unit } { $answered } 件では同じ。{ $gaps } については何も言えない。
conclusion-same-unknown = 不明: { $gaps }。
conclusion-different = { $unit } { $answered } 件のうち { $count } 件で異なる。
conclusion-different-with-gaps = { $unit } { $answered } 件のうち { $count } 件で異なる。{ $gaps } については何も言えない。
conclusion-all-whole = { $unit } { $answered } 件すべて。
conclusion-all-answered = 回答のあった { $unit } { $answered } 件すべて。{ $gaps } については何も言えない。
conclusion-all-unknown = 不明: { $gaps }。
conclusion-not-all = { $unit } { $answered } 件のうち { $count } 件は該当せず。
conclusion-not-all-with-gaps = { $unit } { $answered } 件のうち { $count } 件は該当せず。{ $gaps } については何も言えない。
conclusion-complete-whole = 完全: { $unit } { $answered } 件をすべて調べた。
conclusion-complete-answered = 不完全: { $gaps }。
conclusion-complete-unknown = 不明: { $gaps }。
conclusion-incomplete = 不完全: { $gaps }。
conclusion-chosen-whole = { $choices }
conclusion-chosen-answered = 回答のあった { $unit } { $answered } 件では { $choices }。{ $gaps } については何も言えない
conclusion-chosen-unknown = 不明: { $gaps }

answer-yes = はい
answer-no = いいえ
answer-partly = 一部
answer-not-known = 不明

gap-nothing-asked = 何も問われていない
gap-lost = { $count } 件が欠落
gap-unanswered = { $count } 件が未回答
gap-named = { $what } ({ $why })
gap-counted = { $what } の { $count } 件 ({ $why })
gap-more = ほか { $count } 件
gap-separator = 、

left-out-not-asked = 問われていない
left-out-unreadable = 読めず
left-out-undetermined = 規則では決まらず
left-out-failed = 実行失敗
left-out-refused = システムが拒否
left-out-lost = 欠落
left-out-out-of-view = 視野の外

unit-bytes = バイト
unit-calls = 呼び出し
unit-cells = セル
unit-claims = 主張
unit-files = ファイル
unit-instructions = 命令
unit-kernels = カーネル
unit-launches = 起動
unit-libraries = ライブラリ
unit-observers = 観測器
unit-probes = プローブ
unit-rows = 行
unit-settings = 設定
