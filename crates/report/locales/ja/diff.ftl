# diff
diff-source-same = 尋ねた範囲では、どちらも同じものを選びます。
diff-source-lines = 両者が分かれる条件:
