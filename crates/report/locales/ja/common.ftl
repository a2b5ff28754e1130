# Words that every verb uses
error-next = 対処: { $action }
total = 合計
